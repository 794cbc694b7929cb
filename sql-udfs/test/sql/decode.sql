\set SHOW_CONTEXT never
LOAD 'millrace';
-- Every prefix and every flipped bit of an answer: an error, or another value, and never a byte read beyond the end
CREATE FUNCTION decode_damaged(bytes bytea, status int, kind int, row_count int) RETURNS text AS 'millrace_test' LANGUAGE C STRICT;
CREATE FUNCTION u32(number int) RETURNS bytea LANGUAGE sql AS
	$$ SELECT set_byte(set_byte(set_byte(set_byte('\x00000000', 0, number & 255), 1, number >> 8 & 255), 2, number >> 16 & 255), 3, number >> 24 & 255) $$;
CREATE FUNCTION answer(kind int, row_count int, rows bytea) RETURNS bytea LANGUAGE sql AS
	$$ SELECT '\x0200'::bytea || set_byte('\x0000', 0, kind) || u32(row_count) || '\x00000000000000000000000000000000' || rows $$;

-- One row of each kind, and a row that was not answered
SELECT decode_damaged(answer(1, 1, u32(0) || '\x000000000000f03f'), 0, 1, 1) AS number;
SELECT decode_damaged(answer(2, 1, u32(0) || u32(2) || '\x000000000000f03f000000000000f03f'), 0, 2, 1) AS numbers;
SELECT decode_damaged(answer(3, 1, u32(0) || u32(3) || 'yes'), 0, 3, 1) AS text;
SELECT decode_damaged(answer(4, 1, u32(0) || u32(2) || '\x0000803f0000803f'), 0, 4, 1) AS small_numbers;
SELECT decode_damaged(answer(5, 1, u32(0) || '\x000000000000f03f' || u32(3) || 'yes' || u32(1) || '\x000000000000f03f'), 0, 5, 1) AS full;
SELECT decode_damaged(answer(6, 1, u32(0) || u32(2) || '\xff00'), 0, 6, 1) AS bytes;
SELECT decode_damaged(answer(1, 2, u32(4) || u32(5) || 'wrong' || u32(0) || '\x000000000000f03f'), 0, 1, 2) AS not_answered;
SELECT decode_damaged(u32(3) || 'why' || u32(3) || 'how', 65536, 0, 0) AS refused;
-- Lengths at their limits
SELECT decode_damaged(answer(2, 1, u32(0) || u32(-1) || '\x000000000000f03f'), 0, 2, 1) AS numbers;
SELECT decode_damaged(answer(2, 1, u32(0) || u32(1 << 29)), 0, 2, 1) AS numbers;
SELECT decode_damaged(answer(3, 1, u32(0) || u32(-1) || 'yes'), 0, 3, 1) AS text;
SELECT decode_damaged(answer(3, 1, u32(0) || u32(2) || '\xc328'), 0, 3, 1) AS not_utf8;
SELECT decode_damaged(answer(3, 1, u32(0) || u32(2) || '\x6100'), 0, 3, 1) AS zero_byte;

DROP FUNCTION decode_damaged, u32, answer;
