import { field, z } from '../../../../../sdk/index.ts'
import { columnMaskProblem } from '../../../cdc/config/column-masks.ts'
import { eventKeys } from '../../../cdc/config/event-keys.ts'
import { javaClassProblem } from '../../../cdc/config/java-class-keys.ts'
import { namingKeys, namingProblem } from '../../../cdc/config/naming-keys.ts'
import { signalKeys } from '../../../cdc/config/signal-keys.ts'
import { databaseKeys } from './database-keys.ts'
import { snapshotKeys } from './snapshot-keys.ts'
import { streamKeys } from './stream-keys.ts'
import { EXCLUSIVE_KEYS, tableKeys } from './table-keys.ts'
import { unsentValueKeys } from './unsent-value-keys.ts'
import { valueKeys } from './value-keys.ts'

/** The configuration of `PostgresCdcSource`. Other keys are those with variable names, such as `column.mask.with.5.chars`. */
export const cdcConfig = z
  .object({
    ...databaseKeys,
    ...streamKeys,
    ...tableKeys,
    ...valueKeys,
    ...namingKeys,
    ...eventKeys('SCHEMA.TABLE'),
    ...unsentValueKeys,
    ...snapshotKeys,
    ...signalKeys('SCHEMA.TABLE (it must be in the publication)'),
  })
  .catchall(z.string())
  .superRefine((config, context) => {
    for (const problem of [
      columnMaskProblem(config),
      namingProblem(config),
      javaClassProblem(config, 'io.debezium.connector.postgresql.PostgresSourceInfoStructMaker'),
    ]) {
      if (problem !== undefined) field.addProblem(context, problem.key, problem.message)
    }
    for (const [include, exclude] of EXCLUSIVE_KEYS) {
      if (config[include].length > 0 && config[exclude].length > 0) {
        field.addProblem(context, exclude, `${include} and ${exclude} cannot be combined: remove one of them`)
      }
    }
  })

export type CdcConfig = z.infer<typeof cdcConfig>
