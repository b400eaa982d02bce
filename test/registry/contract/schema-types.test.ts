import { describe, expect, it } from 'vitest'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// The canonical text of a schema can be the same in two types. IDs and GUIDs are those of the text.

const UUID = { schema: '{"type":"string","logicalType":"uuid"}' }
const UUID_JSON = { ...UUID, schemaType: 'JSON' }
const UUID_AVRO = { ...UUID, schemaType: 'AVRO' }
const guid = expect.any(String)
const ts = expect.any(Number)
const VERSION_1 = { id: 1, version: 1, guid }
/** A request that reads the index of contents, which is then complete. */
const FIND_CONTENTS: Request = ['POST /subjects/s', UUID]

const ROWS: Readonly<Record<string, RegistryCase>> = {
  'stores the type with the version, also if another context has the same text in another type': {
    given: [['POST /subjects/s/versions', UUID], ['POST /contexts/c/subjects/t/versions', UUID_JSON], FIND_CONTENTS],
    when: ['GET /contexts/c/subjects/t/versions/1'],
    answer: { subject: ':.c:t', ...VERSION_1, ...UUID_JSON, ts },
    after: { when: ['GET /subjects/s/versions/1'], answer: { subject: 's', ...VERSION_1, ...UUID_AVRO, ts } },
  },
  'stores the type with the version, also if another ID has the same text in another type': {
    given: [
      ['POST /subjects/s/versions', UUID],
      ['PUT /mode/t', { mode: 'IMPORT' }],
      ['POST /subjects/t/versions', { ...UUID_JSON, id: 7 }],
      FIND_CONTENTS,
    ],
    when: ['GET /schemas/ids/7'],
    answer: { guid, ...UUID_JSON, ts },
    after: { when: ['GET /schemas/ids/1'], answer: { guid, ...UUID_AVRO, ts } },
  },
  'returns a version with the same text and another type, with the type that was sent': {
    given: [['POST /subjects/s/versions', UUID]],
    when: ['POST /subjects/s/versions', UUID_JSON],
    answer: { ...VERSION_1, ...UUID_JSON },
    after: { when: ['GET /subjects/s/versions/1'], answer: { subject: 's', ...VERSION_1, ...UUID_AVRO, ts } },
  },
  'registers another version if the latest one, which is requested, has the same text and another type': {
    given: [
      ['POST /subjects/s/versions', UUID],
      ['PUT /config/s', { compatibility: 'NONE' }],
    ],
    when: ['POST /subjects/s/versions', { ...UUID_JSON, version: -1 }],
    answer: {
      ...VERSION_1,
      ...UUID_JSON,
      id: 2,
      version: 2,
      metadata: { properties: { 'confluent:version': '2' } },
    },
  },
  'looks up a version with the same text and another type, with the type that was sent': {
    given: [['POST /subjects/s/versions', UUID]],
    when: ['POST /subjects/s', UUID_JSON],
    answer: { subject: 's', ...VERSION_1, ...UUID_JSON, ts },
  },

  'does not assign the ID of a schema of another type': {
    given: [['POST /subjects/s/versions', UUID]],
    when: ['POST /subjects/t/versions', UUID_JSON],
    ...errorResponse(42205, 'Overwrite new schema with id 1 in context . is not permitted.'),
  },
}

describe('of schemas with the same text in several types, the registry', () => {
  it.each(Object.entries(ROWS))('%s', { tags: ['slow'] }, (_, row) => expectRow(row))
})
