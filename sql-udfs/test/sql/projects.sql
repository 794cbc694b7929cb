\set SHOW_CONTEXT never
-- A project has a name and a task
SELECT ml.create_project('plain', 'classification') > 0 AS made;
SELECT ml.create_project('described', 'Regression', 'prices of houses', '{"on_error": "null"}') > 0 AS made;
SELECT name, task, models, deployed_model_id FROM ml.list_projects();
SELECT description, options FROM ml.projects WHERE name = 'described';

-- Any text is a name
SELECT ml.create_project('with "double" and ''single'' quotes', 'classification') > 0 AS made;
SELECT ml.create_project('with.dots and  spaces', 'classification') > 0 AS made;
SELECT ml.create_project('Upper', 'classification') > 0 AS made, ml.create_project('upper', 'regression') > 0 AS made;
SELECT ml.create_project('emoji 🌾 und Umläute', 'regression') > 0 AS made;
SELECT ml.create_project('f81d4fae-7dec-11d0-a765-00a0c91e6bf6', 'regression') > 0 AS made;
SELECT ml.create_project('%_\', 'regression') > 0 AS made;
SELECT name, task FROM ml.list_projects() ORDER BY name COLLATE "C";
SELECT name FROM ml.list_projects('with%') ORDER BY name COLLATE "C";
SELECT name FROM ml.list_projects('nothing like it');
SELECT count(*) FROM ml.list_projects(NULL);

-- Rejected names
SELECT ml.create_project(NULL, 'classification');
SELECT ml.create_project('', 'classification');
SELECT ml.create_project('   ', 'classification');
SELECT ml.create_project(E'line\nbreak', 'classification');
SELECT ml.create_project(repeat('x', 256), 'classification');
SELECT ml.create_project(repeat('🌾', 64), 'classification');
SELECT ml.create_project('plain', 'classification');
SELECT ml.create_project('plain', 'regression');

-- Rejected tasks and options
SELECT ml.create_project('new', NULL);
SELECT ml.create_project('new', 'clustering');
SELECT ml.create_project('new', 'regression', NULL, '[]');
SELECT ml.create_project('new', 'regression', NULL, '{"on_eror": "null"}');
SELECT ml.create_project('new', 'regression', NULL, '{"on_error": "ignore"}');
SELECT ml.create_project('new', 'regression', NULL, '{"on_error": null}');
SELECT count(*) FROM ml.list_projects('new');

-- Dropped projects
SELECT ml.drop_project('plain');
SELECT ml.drop_project('plain');
\echo :LAST_ERROR_SQLSTATE
SELECT ml.drop_project('plain', true);
SELECT ml.drop_project(NULL);
SELECT ml.drop_project('describe');
SELECT bool_and(ml.drop_project(name)) FROM ml.list_projects();
SELECT count(*) FROM ml.list_projects();
