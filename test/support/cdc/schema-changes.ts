import { type Phase, phase } from './workload.ts'

const WRITE = "INSERT INTO evolving (id) VALUES (nextval('evolving_ids'))"
const CHANGE = 'UPDATE evolving SET id = id WHERE id = (SELECT max(id) FROM evolving)'
const REMOVE = 'DELETE FROM evolving WHERE id = (SELECT min(id) FROM evolving)'

export const EVOLVING_SETUP: readonly string[] = [
  'CREATE SEQUENCE evolving_ids',
  `CREATE TABLE evolving (id integer PRIMARY KEY, word text, number integer NOT NULL DEFAULT 1, price numeric(8, 2))`,
  ...Array(12).fill(WRITE),
]

/** Each changes a table and then its rows. The connectors have read all rows of the table before the next change. */
const CHANGES: readonly (readonly [title: string, ...statements: readonly string[]])[] = [
  ['an added column', 'ALTER TABLE evolving ADD COLUMN extra text', "UPDATE evolving SET extra = 'set' WHERE id = 12"],
  ['an added column with a default', "ALTER TABLE evolving ADD COLUMN colour varchar(10) NOT NULL DEFAULT 'red'"],
  ['a renamed column', 'ALTER TABLE evolving RENAME COLUMN word TO term'],
  ['a wider type', 'ALTER TABLE evolving ALTER COLUMN number TYPE bigint'],
  ['another scale', 'ALTER TABLE evolving ALTER COLUMN price TYPE numeric(12, 4)'],
  ['another type', 'ALTER TABLE evolving ALTER COLUMN term TYPE integer USING coalesce(length(term), 0)'],
  ['a default that changes', 'ALTER TABLE evolving ALTER COLUMN number SET DEFAULT 7'],
  [
    'a default that is dropped',
    'ALTER TABLE evolving ALTER COLUMN number DROP DEFAULT, ALTER COLUMN number DROP NOT NULL',
  ],
  ['values instead of nulls', 'ALTER TABLE evolving ALTER COLUMN price SET DEFAULT 0', 'UPDATE evolving SET price = 1'],
  ['a column that becomes required', 'ALTER TABLE evolving ALTER COLUMN price SET NOT NULL'],
  ['a dropped column', 'ALTER TABLE evolving DROP COLUMN extra'],
  ['the full replica identity', 'ALTER TABLE evolving REPLICA IDENTITY FULL'],
  ['a dropped primary key', 'ALTER TABLE evolving DROP CONSTRAINT evolving_pkey'],
  ['another primary key', 'ALTER TABLE evolving ADD PRIMARY KEY (id, price)'],
  [
    'an index as the replica identity',
    'CREATE UNIQUE INDEX evolving_price ON evolving (price, id); ALTER TABLE evolving REPLICA IDENTITY USING INDEX evolving_price',
  ],
  ['the default replica identity', 'ALTER TABLE evolving REPLICA IDENTITY DEFAULT'],
  [
    'a new value of an enum',
    "ALTER TYPE mood ADD VALUE 'elated'",
    'ALTER TABLE evolving ADD COLUMN feeling mood',
    "UPDATE evolving SET feeling = 'elated'",
  ],
  [
    'a column that is dropped and added again',
    'ALTER TABLE evolving DROP COLUMN colour, ADD COLUMN colour integer DEFAULT 3',
  ],
  ['a renamed table', 'ALTER TABLE evolving RENAME TO evolved; CREATE VIEW evolving AS SELECT * FROM evolved'],
  [
    'another schema',
    'DROP VIEW evolving; CREATE SCHEMA moved; ALTER TABLE evolved SET SCHEMA moved; CREATE VIEW evolving AS SELECT * FROM moved.evolved',
  ],
]

export const schemaChangePhases: readonly Phase[] = [
  ...CHANGES.map(([title, ...statements]) => phase(title, ...statements, WRITE, CHANGE, REMOVE)),
  phase(
    'a new table',
    'CREATE TABLE created (id integer PRIMARY KEY, word text DEFAULT $$d$$)',
    "INSERT INTO created VALUES (1, 'a'); UPDATE created SET word = 'b'; DELETE FROM created",
  ),
  phase(
    'a table that is dropped and created again',
    'DROP TABLE created; CREATE TABLE created (id bigint PRIMARY KEY, number integer NOT NULL)',
    'INSERT INTO created VALUES (1, 2)',
  ),
  phase(
    'a schema change inside of a transaction',
    `BEGIN; INSERT INTO created VALUES (2, 3); ALTER TABLE created ADD COLUMN more text; INSERT INTO created VALUES (3, 4, 'm');
     UPDATE created SET more = 'n' WHERE id = 2; COMMIT`,
  ),
  phase(
    'a schema change that is rolled back',
    'BEGIN; ALTER TABLE created ADD COLUMN never text; ROLLBACK',
    'INSERT INTO created VALUES (4, 5)',
  ),
]
