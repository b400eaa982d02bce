import { z } from 'zod'
import type { ConditionReason } from '../../common/state-glossary.ts'
import type { CustomObject } from '../cluster/kubernetes/custom-object.ts'
import { RESOURCE_KINDS, type ResourceKind } from '../resources/resource.ts'
import type { FieldCause } from './field-causes.ts'

const API_VERSION = 'admission.k8s.io/v1'
/** The API server truncates longer warnings, and drops warnings with line breaks. */
const WARNING_CHARACTERS_MAX = 256
const UNPROCESSABLE = 422
const FORBIDDEN = 403

const review = z.object({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('AdmissionReview'),
  request: z.object({
    uid: z.string().min(1),
    kind: z.object({ kind: z.string() }),
    operation: z.enum(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']),
    object: z.looseObject({ metadata: z.looseObject({ name: z.string(), namespace: z.string() }) }).nullish(),
    oldObject: z
      .looseObject({
        metadata: z.looseObject({ name: z.string(), namespace: z.string() }),
        spec: z.looseObject({}).optional(),
      })
      .nullish(),
    userInfo: z
      .object({
        username: z.string().default(''),
        uid: z.string().optional(),
        groups: z.array(z.string()).optional(),
        extra: z.record(z.string(), z.array(z.string())).optional(),
      })
      .default({ username: '' }),
  }),
})

export type WriteRequest = {
  readonly kind: ResourceKind
  readonly object: CustomObject
  /** The stored object, if there is one. */
  readonly before?: { readonly spec?: object | undefined }
  /** The user, as authenticated by the API server. */
  readonly by: z.output<typeof review>['request']['userInfo']
}

/** A request to delete an object. */
export type DeleteRequest = Pick<WriteRequest, 'kind' | 'object' | 'by'>

/**
 * An admission request to store or to delete an object. Without `proposed` and `deletion` there is nothing to decide.
 */
export type AdmissionRequest = {
  readonly uid: string
  readonly proposed?: WriteRequest
  readonly deletion?: DeleteRequest
}

/** The decision about an object that a user wants to store or to delete. Warnings are shown to the user. */
export type AdmissionDecision =
  | { readonly allowed: true; readonly warnings: readonly string[] }
  | {
      readonly allowed: false
      readonly reason: ConditionReason
      readonly message: string
      /** By field; absent where the object as a whole is rejected. */
      readonly causes?: readonly FieldCause[]
    }

/** Undefined unless the body is an AdmissionReview of version 1. */
export function parseAdmissionReview(body: unknown): AdmissionRequest | undefined {
  const parsed = review.safeParse(body)
  if (!parsed.success) return undefined
  const { uid, kind, operation, object, oldObject, userInfo: by } = parsed.data.request
  const known = RESOURCE_KINDS.find((name) => name === kind.kind)
  if (known !== undefined && operation === 'DELETE') {
    // A deletion without its object must not be treated as one that deletes nothing.
    if (!oldObject) return undefined
    return { uid, deletion: { kind: known, object: oldObject as unknown as CustomObject, by } }
  }
  const stores = operation === 'CREATE' || operation === 'UPDATE'
  if (known === undefined || !stores || !object) return { uid }
  const before = oldObject ? { before: oldObject } : {}
  return { uid, proposed: { kind: known, object: object as unknown as CustomObject, ...before, by } }
}

/** The AdmissionReview with the response to a request. */
export function toAdmissionReview(uid: string, decision: AdmissionDecision): object {
  const result = decision.allowed
    ? { allowed: true, warnings: decision.warnings.map(asWarning) }
    : {
        allowed: false,
        status: {
          status: 'Failure',
          code: decision.reason === 'Forbidden' ? FORBIDDEN : UNPROCESSABLE,
          reason: decision.reason,
          message: decision.message,
          ...(decision.causes !== undefined && { details: { causes: decision.causes.map(toCause) } }),
        },
      }
  return { apiVersion: API_VERSION, kind: 'AdmissionReview', response: { uid, ...result } }
}

function toCause({ field, message }: FieldCause): object {
  return { reason: 'FieldValueInvalid', field, message }
}

function asWarning(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, WARNING_CHARACTERS_MAX)
}
