import { toBuffer } from '../../../sdk/bytes.ts'
import { defineHeaderConverter, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { headerText } from './header-text.ts'
import { inferValue } from './infer-value.ts'

/** Writes headers as text and infers their types when reading. */
export const simpleHeaderConverter = defineHeaderConverter({
  class: 'SimpleHeaderConverter',
  aliases: ['org.apache.kafka.connect.storage.SimpleHeaderConverter'],
  version: SHIPPED_VERSION,
  summary: 'Writes headers as text and infers their types when reading.',
  notes: `
Types are inferred as by Apache Kafka's SimpleHeaderConverter, including its irregularities: \`1.5\` is a 32-bit float, \`1,2\` is 1, and
quotes are recognized only inside arrays and maps.
`,
  config: z.object({}),
  create: () => ({
    fromConnect: ({ value, schema }) =>
      value === null || value === undefined ? null : Buffer.from(headerText(value, schema)),
    toConnect: (key, bytes) =>
      bytes === null ? { key, schema: null, value: null } : { key, ...inferValue(toBuffer(bytes).toString()) },
  }),
})
