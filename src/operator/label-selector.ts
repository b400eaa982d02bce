import { z } from 'zod'

const value = z.string().max(63)
const expression = z.discriminatedUnion('operator', [
  z.strictObject({
    key: z.string().min(1),
    operator: z.enum(['In', 'NotIn']),
    values: z.array(value).min(1),
  }),
  z.strictObject({ key: z.string().min(1), operator: z.enum(['Exists', 'DoesNotExist']) }),
])

/** A Kubernetes label selector. An empty one, which would select everything, is invalid. */
export const labelSelector = z
  .strictObject({
    matchLabels: z.record(z.string().min(1), value).default({}),
    matchExpressions: z.array(expression).default([]),
  })
  .refine(
    ({ matchLabels, matchExpressions }) => Object.keys(matchLabels).length + matchExpressions.length > 0,
    'names no label: matchLabels or matchExpressions',
  )

export type Labels = Readonly<Record<string, string>>
export type LabelSelector = {
  readonly matchLabels: Labels
  readonly matchExpressions: readonly z.output<typeof expression>[]
}

export function matchesSelector({ matchLabels, matchExpressions }: LabelSelector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, wanted]) => labels[key] === wanted) &&
    matchExpressions.every((each) => matchesExpression(each, labels[each.key]))
  )
}

/** `NotIn` also matches where the label is absent. */
function matchesExpression(each: LabelSelector['matchExpressions'][number], label: string | undefined): boolean {
  switch (each.operator) {
    case 'In':
      return label !== undefined && each.values.includes(label)
    case 'NotIn':
      return label === undefined || !each.values.includes(label)
    case 'Exists':
      return label !== undefined
    case 'DoesNotExist':
      return label === undefined
  }
}
