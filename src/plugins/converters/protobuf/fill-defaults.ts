import type { Schema } from '../../../sdk/index.ts'

type Fill = (value: unknown) => unknown
export const asItIs: Fill = (value) => value

/**
 * Returns a function that replaces missing struct fields by the defaults of the Connect schema. Protobuf's own default
 * would be zero.
 */
export function filled(schema: Schema): Fill {
  switch (schema.type) {
    case 'struct':
      return structFill(schema)
    case 'array': {
      const fill = filled(schema.items!)
      return fill === asItIs ? asItIs : (value) => (Array.isArray(value) ? value.map(fill) : value)
    }
    case 'map': {
      const fill = filled(schema.items!)
      if (fill === asItIs) return asItIs
      return (value) => (value instanceof Map ? new Map([...value].map(([key, one]) => [key, fill(one)])) : value)
    }
    default:
      return asItIs
  }
}

function structFill({ fields = [] }: Schema): Fill {
  const fills = fields.map(({ name, schema }) => ({ name, fill: filled(schema), fallback: schema.default }))
  if (fills.every(({ fill, fallback }) => fill === asItIs && fallback === undefined)) return asItIs
  return (value) => {
    if (typeof value !== 'object' || value === null) return value
    const held = value as Readonly<Record<string, unknown>>
    return Object.fromEntries(fills.map(({ name, fill, fallback }) => [name, fill(held[name] ?? fallback ?? null)]))
  }
}
