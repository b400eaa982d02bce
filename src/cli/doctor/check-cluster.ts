import { ApiError, type KubernetesApi } from '../../clients/kubernetes/kubernetes-api.ts'
import type { Clock } from '../../common/clock.ts'
import { counted } from '../../common/counted.ts'
import { messageOf } from '../../common/errors.ts'
import { API_VERSION } from '../../common/resource-api.ts'
import type { DoctorFinding } from './doctor-finding.ts'

export type CheckedCluster = {
  readonly api: Pick<KubernetesApi, 'send'>
  /** Namespace of the operator. */
  readonly namespace: string
}

/** The oldest minor version of Kubernetes 1 that `docs/supported-versions.md` names. */
const MINOR_MIN = 30
const KINDS = ['connectors', 'subjects', 'registrymodes'] as const
const [GROUP = '', VERSION = ''] = API_VERSION.split('/')
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
/** Of the operator of an installation that is not configured with another name. */
const LEASE = 'weir-operator'
const PAGE = 500
const NAMES_SHOWN_MAX = 5

/** Whether the API server, the definitions, the operator and the resources are as they should be. Only reads. */
export async function checkCluster(cluster: CheckedCluster, clock: Clock): Promise<readonly DoctorFinding[]> {
  const server = await checkServer(cluster)
  if (server.verdict === 'problem') return [server]
  const [definitions, operator, resources] = await Promise.all([
    checkDefinitions(cluster),
    checkOperator(cluster, clock),
    checkResources(cluster),
  ])
  return [server, ...definitions, operator, ...resources]
}

async function checkServer({ api }: CheckedCluster): Promise<DoctorFinding> {
  const check = 'API server'
  try {
    type Version = { readonly gitVersion: string; readonly minor: string }
    const { gitVersion, minor } = await api.send<Version>({ method: 'GET', path: '/version' })
    const message = `responds, Kubernetes ${gitVersion}`
    if (Number.parseInt(minor, 10) >= MINOR_MIN) return { check, verdict: 'ok', message }
    const remedy = `Weir is not tested with it: use Kubernetes 1.${MINOR_MIN} or newer`
    return { check, verdict: 'warning', message, remedy }
  } catch (error) {
    return { check, verdict: 'problem', message: messageOf(error), remedy: 'correct --context or --kubeconfig' }
  }
}

type Definition = {
  readonly spec: { readonly versions: readonly { readonly name: string; readonly served: boolean }[] }
  readonly status?: { readonly storedVersions?: readonly string[] }
}

async function checkDefinitions({ api }: CheckedCluster): Promise<readonly DoctorFinding[]> {
  const check = 'definitions'
  const faults = await Promise.all(
    KINDS.map(async (plural): Promise<DoctorFinding | undefined> => {
      const name = `${plural}.${GROUP}`
      const found = await readable(api.send<Definition>({ method: 'GET', path: `${DEFINITIONS}/${name}` }))
      if (found === 'forbidden') return notReadable(check, `the definition ${name}`)
      const remedy = 'weir crds | kubectl apply --server-side -f -'
      if (found === undefined) return { check, verdict: 'problem', message: `${name} is not installed`, remedy }
      if (!found.spec.versions.some((version) => version.name === VERSION && version.served))
        return { check, verdict: 'problem', message: `${name} does not serve ${VERSION}`, remedy }
      const former = (found.status?.storedVersions ?? []).filter((version) => version !== VERSION)
      if (former.length === 0) return undefined
      const message = `${name} may still store objects of ${former.join(', ')}`
      return { check, verdict: 'warning', message, remedy: 'weir crds --migrate' }
    }),
  )
  const found = faults.filter((fault) => fault !== undefined)
  return found.length > 0 ? found : [{ check, verdict: 'ok', message: `all kinds serve ${API_VERSION}` }]
}

type Lease = {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly renewTime?: string
    readonly leaseDurationSeconds?: number
  }
}

async function checkOperator({ api, namespace }: CheckedCluster, clock: Clock): Promise<DoctorFinding> {
  const check = 'operator'
  const path = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases/${LEASE}`
  const lease = await readable(api.send<Lease>({ method: 'GET', path }))
  if (lease === 'forbidden') return notReadable(check, `the Lease ${namespace}/${LEASE}`)
  const remedy = `kubectl --namespace ${namespace} get pods shows whether it runs; -n NAME is the namespace of the operator`
  if (lease === undefined)
    return { check, verdict: 'problem', message: `no operator has run in the namespace ${namespace}`, remedy }
  const { holderIdentity: holder, renewTime = '', leaseDurationSeconds = 0 } = lease.spec ?? {}
  if (!holder) return { check, verdict: 'problem', message: 'no operator is active', remedy }
  const endMs = Date.parse(renewTime) + leaseDurationSeconds * 1_000
  if (endMs >= clock.nowMs()) return { check, verdict: 'ok', message: `${holder} is active` }
  return { check, verdict: 'problem', message: `${holder} has not renewed its Lease since ${renewTime}`, remedy }
}

type Condition = { readonly type: string; readonly status: string; readonly reason?: string }
type Declared = {
  readonly metadata: { readonly namespace: string; readonly name: string }
  readonly status?: { readonly conditions?: readonly Condition[] }
}
type Page = { readonly items: readonly Declared[]; readonly metadata: { readonly continue?: string } }

async function checkResources(cluster: CheckedCluster): Promise<readonly DoctorFinding[]> {
  const lists = await Promise.all(KINDS.map((plural) => listAll(cluster, plural)))
  const unread = KINDS.filter((_, at) => lists[at] === 'forbidden')
  const resources = lists.flatMap((list, at) =>
    list === 'forbidden' ? [] : list.map((resource) => ({ plural: KINDS[at]!, resource })),
  )
  const has = ({ status }: Declared, type: string) =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
  const stalled = resources.filter(({ resource }) => has(resource, 'Stalled'))
  const waiting = resources.filter(({ resource }) => !has(resource, 'Ready') && !has(resource, 'Stalled'))
  const named = (found: typeof resources) => {
    const shown = found.slice(0, NAMES_SHOWN_MAX).map(({ plural, resource: { metadata, status } }) => {
      const reason = status?.conditions?.find(({ type }) => type === 'Ready')?.reason ?? 'not observed yet'
      return `${plural}/${metadata.name} in ${metadata.namespace} (${reason})`
    })
    return `${shown.join(', ')}${found.length > shown.length ? ', …' : ''}`
  }
  const check = 'resources'
  const remedy = 'weir describe --context NAME -n NAMESPACE shows the reason of one'
  return [
    ...unread.map((plural) => notReadable(check, plural)),
    ...(stalled.length === 0
      ? []
      : [
          { check, verdict: 'problem', message: `${stalled.length} need a change: ${named(stalled)}`, remedy } as const,
        ]),
    ...(waiting.length === 0
      ? []
      : [{ check, verdict: 'warning', message: `${waiting.length} are not Ready: ${named(waiting)}` } as const]),
    ...(stalled.length + waiting.length + unread.length > 0
      ? []
      : [{ check, verdict: 'ok', message: `${counted(resources.length, 'resource')}, all Ready` } as const]),
  ]
}

/** Of all namespaces, or of that of the operator if only its resources may be read. Empty if the kind is not served. */
async function listAll({ api, namespace }: CheckedCluster, plural: string): Promise<readonly Declared[] | 'forbidden'> {
  const everywhere = await listAt(api, `/apis/${API_VERSION}/${plural}`)
  if (everywhere !== 'forbidden') return everywhere
  return listAt(api, `/apis/${API_VERSION}/namespaces/${encodeURIComponent(namespace)}/${plural}`)
}

async function listAt(api: CheckedCluster['api'], path: string): Promise<readonly Declared[] | 'forbidden'> {
  const items: Declared[] = []
  let token: string | undefined
  do {
    const page = await readable(api.send<Page>({ method: 'GET', path, query: { limit: PAGE, continue: token } }))
    if (page === 'forbidden') return page
    items.push(...(page?.items ?? []))
    token = page?.metadata.continue
  } while (token)
  return items
}

/** Undefined if it does not exist. */
async function readable<T>(request: Promise<T>): Promise<T | 'forbidden' | undefined> {
  try {
    return await request
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    if (error instanceof ApiError && error.code === 'forbidden') return 'forbidden'
    throw error
  }
}

function notReadable(check: string, what: string): DoctorFinding {
  return { check, verdict: 'warning', message: `your user may not read ${what}` }
}
