import type { KubernetesApi } from './kubernetes-api.ts'

/** A user as the API server knows it. */
export type KubernetesUser = {
  readonly username: string
  readonly uid?: string | undefined
  readonly groups?: readonly string[] | undefined
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined
}

/** An operation on resources. An empty or absent namespace means all namespaces. */
export type ResourceAttributes = {
  readonly group: string
  readonly resource: string
  readonly verb: string
  readonly namespace?: string
  readonly name?: string
}

const TIMEOUT_MS = 3_000

type Api = Pick<KubernetesApi, 'send'>

/** Whether the user has a permission: a `SubjectAccessReview`. Rejects when the API server does not decide. */
export async function isPermitted(
  api: Api,
  { username, uid, groups, extra }: KubernetesUser,
  resourceAttributes: ResourceAttributes,
): Promise<boolean> {
  const { status } = await api.send<{ readonly status?: { readonly allowed?: boolean } }>({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: username, uid, groups, extra, resourceAttributes },
    },
    timeoutMs: TIMEOUT_MS,
  })
  return status?.allowed === true
}

/** The user of a bearer token: a `TokenReview`. Undefined if the token is invalid or has expired. */
export async function userOfToken(api: Api, token: string): Promise<KubernetesUser | undefined> {
  const { status } = await api.send<{
    readonly status?: { readonly authenticated?: boolean; readonly user?: KubernetesUser }
  }>({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
    timeoutMs: TIMEOUT_MS,
  })
  return status?.authenticated === true && status.user?.username ? status.user : undefined
}
