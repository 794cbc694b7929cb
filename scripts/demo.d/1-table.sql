-- A table as an application has it: 5,000 customers of a telephone company, and who of them left (churn).
CREATE TABLE IF NOT EXISTS churn (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  state text, account_length int, area_code text, international_plan text, voice_mail_plan text, number_vmail_messages int,
  total_day_minutes double precision, total_day_calls int, total_day_charge numeric(8,2),
  total_eve_minutes double precision, total_eve_calls int, total_eve_charge numeric(8,2),
  total_night_minutes double precision, total_night_calls int, total_night_charge numeric(8,2),
  total_intl_minutes double precision, total_intl_calls int, total_intl_charge numeric(8,2),
  number_customer_service_calls int, churn text NOT NULL
);
SELECT NOT EXISTS (SELECT FROM churn) AS empty \gset
\if :empty
\copy churn (state, account_length, area_code, international_plan, voice_mail_plan, number_vmail_messages, total_day_minutes, total_day_calls, total_day_charge, total_eve_minutes, total_eve_calls, total_eve_charge, total_night_minutes, total_night_calls, total_night_charge, total_intl_minutes, total_intl_calls, total_intl_charge, number_customer_service_calls, churn) FROM 'churn.csv' WITH (FORMAT csv, HEADER)
\endif
SELECT churn, count(*) FROM churn GROUP BY churn ORDER BY churn;
