import { INT64, OPTIONAL_INT64, OPTIONAL_STRING, STRING } from '../../../../sdk/index.ts'
import { SNAPSHOT_MARKER } from './event-time.ts'

/** The fields with which `source` begins in the events of every database. */
export const SOURCE_FIELDS = [
  { name: 'version', schema: STRING },
  { name: 'connector', schema: STRING },
  { name: 'name', schema: STRING },
  { name: 'ts_ms', schema: INT64 },
  { name: 'snapshot', schema: SNAPSHOT_MARKER },
  { name: 'db', schema: STRING },
  { name: 'sequence', schema: OPTIONAL_STRING },
  { name: 'ts_us', schema: OPTIONAL_INT64 },
  { name: 'ts_ns', schema: OPTIONAL_INT64 },
]
