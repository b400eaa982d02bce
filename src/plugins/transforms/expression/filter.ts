import { DataError, defineTransform, field, valueLabel, z } from '../../../sdk/index.ts'
import { ownNames } from '../key-value-transforms.ts'
import { EXPRESSION_NOTES, expressionField } from './expression.ts'

/** Keeps the records for which a condition is true. */
export const filterByExpression = defineTransform({
  ...ownNames('FilterByExpression'),
  summary: 'Keeps the records for which an expression is true: value.total > 100 && topic.startsWith("eu.").',
  notes: EXPRESSION_NOTES,
  config: z.object({
    condition: expressionField('condition', {
      doc: 'Expression that is true for records to keep.',
      importance: 'HIGH',
    }),
    tombstones: field
      .oneOf(['keep', 'drop', 'evaluate'], { doc: 'How records without a value are handled.' })
      .default('keep'),
  }),
  create({ condition, tombstones }) {
    return (record) => {
      if ((record.value === null || record.value === undefined) && tombstones !== 'evaluate') {
        return tombstones === 'keep' ? record : null
      }
      const isKept = condition(record)
      if (typeof isKept === 'boolean') return isKept ? record : null
      throw new DataError(`the condition must be true or false, got ${valueLabel(isKept)}`)
    }
  },
})
