import { array, DataError, FLOAT32, FLOAT64, INT16, map, type Schema } from '../../../../../sdk/index.ts'
import { named, type ValueType } from '../../../cdc/values/value-type.ts'

// Types of pgvector.

/** `[1,2.5,3]`. */
const vector = (name: string, item: Schema): ValueType =>
  named(`io.debezium.data.${name}`, {
    schema: array(item),
    decode(text) {
      if (!text.startsWith('[') || !text.endsWith(']')) throw new DataError('the text of a vector is not in brackets')
      return text.slice(1, -1).split(',').map(Number)
    },
  })

export const VECTOR = vector('DoubleVector', FLOAT64)
export const HALF_VECTOR = vector('FloatVector', FLOAT32)

/** `{1:1.5,3:2}/5`: the items that are not zero by their index, and the number of dimensions. */
export const SPARSE_VECTOR: ValueType = {
  schema: {
    type: 'struct',
    name: 'io.debezium.data.SparseDoubleVector',
    version: 1,
    doc: 'Sparse double vector',
    fields: [
      { name: 'dimensions', schema: INT16 },
      { name: 'vector', schema: map(INT16, FLOAT64) },
    ],
  },
  decode(text) {
    const [, items, dimensions] = /^\{(.*)\}\/(\d+)$/.exec(text) ?? []
    if (items === undefined) throw new DataError('the text of a sparse vector is not valid')
    const pairs = items === '' ? [] : items.split(',').map((pair) => pair.split(':').map(Number) as [number, number])
    return { dimensions: Number(dimensions), vector: new Map(pairs) }
  },
}
