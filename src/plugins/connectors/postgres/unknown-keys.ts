import { nearest } from '../../../config/nearest.ts'
import { type TaskLog, unknownKeys, type z } from '../../../sdk/index.ts'

/** Keys that the runtime reads, or that a connector writes for its tasks. */
const RUNTIME =
  /^(?:name|connector\.class|connector\.plugin\.version|task\.class|tasks|tasks\.max|tasks\.max\.enforce|tables|tables\.fetched|topics|topics\.regex|config\.action\.reload|exactly\.once\.support|transaction\.boundary|transaction\.boundary\.interval\.ms|offsets\.storage\.topic|(?:key|value|header)\.converter|transforms|predicates)$|^(?:errors|(?:key|value|header)\.converter|transforms|predicates|topic\.creation|(?:producer|consumer|admin)\.override)\./

/** Says which keys mean nothing to the connector, and what was probably meant. A JDBC connector has some for other databases. */
export function warnOfUnknownKeys(spec: z.ZodObject, raw: Readonly<Record<string, string>>, log: TaskLog): void {
  for (const key of unknownKeys(spec, raw).filter((name) => !RUNTIME.test(name))) {
    const meant = nearest(key, Object.keys(spec.shape))
    log.warn({ key, ...(meant !== undefined && { meant }) }, 'the connector does not know this key: it has no effect')
  }
}
