import type { ClusterError } from '../../clients/kubernetes/cluster-error.ts'
import { ApiError, NOT_SERVED } from '../../clients/kubernetes/kubernetes-api.ts'
import { API_GROUP } from '../../common/resource-api.ts'

import type { Target } from '../target.ts'
import type { ResourceWord } from './resource-words.ts'

type Place = Pick<Extract<Target, { kind: 'kubernetes' }>, 'origin' | 'namespace'> & { readonly kind: ResourceWord }

const OTHER = 'or choose another cluster with --context NAME'

/** What was wrong, where, and what would be right. */
export function explainApiError(error: ClusterError, { origin, namespace, kind }: Place): string {
  if (!(error instanceof ApiError)) return error.message
  const { status, message } = error
  if (error.reason === NOT_SERVED)
    return `the API server of ${origin} has no ${kind}s of ${API_GROUP}, because their CustomResourceDefinition is missing: install it (weir crds | kubectl apply --server-side -f -), ${OTHER}`
  if (status === 401)
    return `the API server of ${origin} does not accept the credentials of the kubeconfig, which are wrong or have expired: log in to the cluster again, ${OTHER}`
  if (status === 403 && / cannot \w+ resource /.test(message))
    return `${message}: choose a user or a namespace that may (kubectl auth can-i --list --namespace ${namespace}), or have a role granted that permits it`
  if (status !== 0) return `${message} (${origin})`
  if (isCertificateError(error.cause))
    return `the certificate of the API server of ${origin} is not trusted (${error.cause.code}): correct certificate-authority-data of the cluster in the kubeconfig, ${OTHER}`
  return `${message}: check that the cluster of ${origin} runs and that this machine reaches it, ${OTHER}`
}

function isCertificateError(cause: unknown): cause is Error & { readonly code: string } {
  return cause instanceof Error && 'code' in cause && /CERT|LEAF_SIGNATURE/.test(String(cause.code))
}
