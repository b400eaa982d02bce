import type { KubernetesApi } from '../../clients/kubernetes/kubernetes-api.ts'
import { type DryRunDependencies, dryRunAdmission } from './admission-dry-run.ts'
import type { AdmissionDecision, DeleteRequest, WriteRequest } from './admission-review.ts'
import { denyUnauthorizedDelete, denyUnauthorizedWrite } from './authorization.ts'

export type AdmissionDependencies = DryRunDependencies & {
  readonly api: Pick<KubernetesApi, 'send'>
}

const ALLOWED: AdmissionDecision = { allowed: true, warnings: [] }

/**
 * Decides whether an object may be stored: first by the user's permission for guarded fields, then by a dry run. For an
 * object that is being deleted, only the guarded fields are checked.
 */
export async function decideWrite(
  proposed: WriteRequest,
  dependencies: AdmissionDependencies,
): Promise<AdmissionDecision> {
  const refusal = await denyUnauthorizedWrite(proposed, dependencies.api)
  if (refusal !== undefined) return refusal
  const { kind, object } = proposed
  return object.metadata.deletionTimestamp === undefined ? dryRunAdmission(kind, object, dependencies) : ALLOWED
}

/** Decides by the user's permission for guarded fields whether an object may be deleted. */
export async function decideDeletion(
  deletion: DeleteRequest,
  { api }: Pick<AdmissionDependencies, 'api'>,
): Promise<AdmissionDecision> {
  return (await denyUnauthorizedDelete(deletion, api)) ?? ALLOWED
}
