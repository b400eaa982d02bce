import { z } from 'zod'
import { boundedText, int32, mapList, time } from './field-schemas.ts'

/**
 * The common part of every status. The conditions have the schema of `metav1.Condition`, so that Kubernetes tools can
 * read them.
 */

const condition = z.object({
  type: boundedText(1, 316).describe(
    'Type of the condition: Ready, Reconciling, Stalled, or one that is specific to the kind.',
  ),
  status: z.enum(['True', 'False', 'Unknown']).describe('Status of the condition.'),
  observedGeneration: int64Field()
    .min(0)
    .optional()
    .describe('metadata.generation that the condition was observed for.'),
  lastTransitionTime: time().describe('When the status of the condition last changed.'),
  reason: boundedText(1, 1_024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
    .describe('Reason of the status, one of a fixed list. Example: Incompatible.'),
  message: boundedText(0, 32_768).describe('Explanation of the reason for people, of at most 4096 bytes.'),
})
export type Condition = Readonly<z.output<typeof condition>>

export const commonStatus = {
  observedGeneration: int64Field().describe(
    'metadata.generation that this status was observed for; -1 before the first reconcile.',
  ),
  conditions: mapList(condition, 'type')
    .max(16)
    .readonly()
    .describe('Conditions: Ready, and others that are specific to the kind.'),
  lastHandledReconcile: handledAnnotation('reconcile'),
}

/** The last handled value of a request annotation, so that each request is executed once. */
export function handledAnnotation(request: string) {
  return boundedText(0, 256)
    .optional()
    .describe(`Last value of the annotation weir.dev/${request}-requested-at that was handled.`)
}

export const countField = (what: string) => int32().describe(what)

export function int64Field() {
  return z.int().meta({ format: 'int64' })
}
