-- Ten customers by table row: columns are matched by name, id and the label itself are ignored.
SELECT id, churn, round(ml.predict('churn', c)::numeric, 4) AS p_yes, ml.predict_class('churn', c) AS class,
       ml.predict_proba('churn', c)::numeric(5,4)[] AS "{no,yes}"
  FROM churn c ORDER BY id LIMIT 10;

-- The same ten as JSON documents, as an application sends them.
SELECT id, round(ml.predict('churn', to_jsonb(c))::numeric, 4) AS p_yes FROM churn c ORDER BY id LIMIT 10;

-- A customer who is in no table: ROW(..) in the order of the features.
SELECT ml.predict('churn', ROW('KS', 128, 'area_code_415', 'no', 'yes', 25, 265.1, 110, 45.07, 197.4, 99, 16.78, 244.7, 91,
  11.01, 10, 3, 2.7, 1)) AS p_yes;
SELECT ml.predict_class('churn', '{"state": "KS", "account_length": 128, "area_code": "area_code_415", "international_plan": "yes",
  "voice_mail_plan": "no", "number_vmail_messages": 0, "total_day_minutes": 265.1, "total_day_calls": 110,
  "total_day_charge": 45.07, "total_eve_minutes": 197.4, "total_eve_calls": 99, "total_eve_charge": 16.78,
  "total_night_minutes": 244.7, "total_night_calls": 91, "total_night_charge": 11.01, "total_intl_minutes": 10,
  "total_intl_calls": 3, "total_intl_charge": 2.7, "number_customer_service_calls": 5}'::jsonb) AS class;
