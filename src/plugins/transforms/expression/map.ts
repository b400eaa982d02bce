import { z } from '../../../sdk/index.ts'
import { sideTransforms } from '../key-value-transforms.ts'
import { EXPRESSION_NOTES, expressionField } from './expression.ts'

/** Replaces the whole key or value by the result of an expression. */
export const mapTransform = sideTransforms({
  name: 'Map',
  isOwn: true,
  summary:
    'Replaces the key or value with the result of an expression: {"id": value.id, "total": value.price * double(value.count)}.',
  notes: `
The result is schemaless: objects, lists, strings and numbers, as \`JsonConverter\` writes them with \`schemas.enable=false\`. A null
value remains null, so tombstones are preserved.
${EXPRESSION_NOTES}`,
  config: z.object({
    expression: expressionField('expression', { doc: 'Expression for the new key or value.', importance: 'HIGH' }),
  }),
  create({ expression }) {
    return (side, record) => {
      if (side.value === null || side.value === undefined) return side
      return { schema: null, value: expression(record) }
    }
  },
})
