-- A user's own way without Millrace: the booster lives in each backend and scores one row per call.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS plpython3u;
CREATE OR REPLACE FUNCTION bench.in_process(path text, features float8[]) RETURNS float8 LANGUAGE plpython3u STABLE AS $$
if "booster" not in SD:
    import numpy
    import xgboost
    SD["numpy"] = numpy
    SD["booster"] = xgboost.Booster(model_file=path)
    SD["booster"].set_param({"nthread": 1})
row = SD["numpy"].array([features], dtype=SD["numpy"].float32)
return float(SD["booster"].inplace_predict(row)[0])
$$;
