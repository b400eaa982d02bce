import { stringify } from 'yaml'
import { GUARDED_FIELDS } from './admission/authorization.ts'
import { pluralOf } from './resources/crd.ts'
import { API_VERSION, RESOURCE_KINDS, type ResourceKind } from './resources/resource.ts'

export type RbacOptions = {
  /** Where the operator and its service account live. */
  readonly namespace: string
  /** Whose resources it keeps; empty: of all. */
  readonly watched: readonly string[]
  /** It judges what is declared before it is stored. */
  readonly webhook: boolean
  /** Connectors may keep copies of their offsets in ConfigMaps. */
  readonly offsetsExport: boolean
  /** Connectors are restarted when a Secret of theirs changes, or take values from it. */
  readonly secrets: boolean
  /** Its configuration goes by what namespaces are like. */
  readonly namespaceLabels: boolean
  /** Of the configuration, when it has one. */
  readonly instance?: string
}

type Rule = {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

const READ = ['get', 'list', 'watch']
const NAME = 'weir-operator'
const AUTHORIZATION = 'rbac.authorization.k8s.io'
const GROUP = API_VERSION.split('/')[0]!
const PLURALS = RESOURCE_KINDS.map(pluralOf)

/** What the operator does in the namespaces that it watches, and no verb more. */
const watching = ({ offsetsExport, secrets }: RbacOptions): readonly Rule[] => [
  // Applied: its finalizer on the resource, and the status.
  { apiGroups: [GROUP], resources: PLURALS, verbs: ['list', 'watch', 'patch'] },
  { apiGroups: [GROUP], resources: PLURALS.map((plural) => `${plural}/status`), verbs: ['patch'] },
  {
    apiGroups: [''],
    resources: ['configmaps'],
    verbs: ['get', 'list', 'watch', ...(offsetsExport ? ['create', 'patch'] : [])],
  },
  ...(secrets ? [{ apiGroups: [''], resources: ['secrets'], verbs: READ }] : []),
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
]

/** In its own namespace. What is created has no name yet that a rule could know. */
const leading = (instance: string): readonly Rule[] => [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [`${instance}-operator`],
    verbs: ['get', 'update'],
  },
]

const CERTIFICATE: readonly Rule[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
  { apiGroups: [''], resources: ['secrets'], resourceNames: ['weir-webhook'], verbs: ['get', 'update'] },
]

const registration = (namespace: string): Rule => ({
  apiGroups: ['admissionregistration.k8s.io'],
  resources: ['validatingwebhookconfigurations'],
  resourceNames: [`weir-${namespace}`],
  verbs: ['create', 'patch'],
})

/** What belongs to no namespace can't be granted in one: only by its name. */
const seeing = (watched: readonly string[]): Rule => ({
  apiGroups: [''],
  resources: ['namespaces'],
  ...(watched.length > 0 && { resourceNames: watched }),
  verbs: ['list', 'watch'],
})

/** Whether a person may ask for what only some may. */
const ASKING: Rule = { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] }

/** The operator's service account and what it may do; and what people may, by the roles that clusters give them. */
export function rbacOf(options: RbacOptions): readonly object[] {
  const { namespace, watched, webhook, namespaceLabels, instance = 'weir' } = options
  const there = watching(options)
  const own = [...leading(instance), ...(webhook ? CERTIFICATE : [])]
  const everywhere = [
    ...(watched.length === 0 ? there : []),
    ...(namespaceLabels ? [seeing(watched)] : []),
    ...(webhook ? [registration(namespace), ASKING] : []),
  ]
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: NAME, namespace } },
    ...granted(`${NAME}-own`, own, namespace, namespace),
    ...watched.flatMap((at) => granted(NAME, there, namespace, at)),
    ...(everywhere.length === 0 ? [] : granted(`${NAME}-${namespace}`, everywhere, namespace)),
    ...USERS,
  ]
}

export function rbacText(options: RbacOptions): string {
  return rbacOf(options)
    .map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n')
}

/** A role, in a namespace or of the cluster, and that the operator has it. */
function granted(name: string, rules: readonly Rule[], account: string, namespace?: string): readonly object[] {
  const kind = namespace === undefined ? 'ClusterRole' : 'Role'
  const metadata = { name, ...(namespace !== undefined && { namespace }) }
  const apiVersion = `${AUTHORIZATION}/v1`
  const subjects = [{ kind: 'ServiceAccount', name: NAME, namespace: account }]
  const roleRef = { apiGroup: AUTHORIZATION, kind, name }
  return [
    { apiVersion, kind, metadata, rules },
    { apiVersion, kind: `${kind}Binding`, metadata, subjects, roleRef },
  ]
}

const WRITE = ['create', 'update', 'patch', 'delete', 'deletecollection']

/** Who may view, edit or administer a namespace may do so with its resources; modes are an administrator's. */
const USERS = [
  userRole('view', [{ apiGroups: [GROUP], resources: PLURALS, verbs: READ }]),
  userRole('edit', [{ apiGroups: [GROUP], resources: ['connectors', 'connectors/scale', 'subjects'], verbs: WRITE }]),
  userRole('admin', [
    { apiGroups: [GROUP], resources: ['registrymodes'], verbs: WRITE },
    ...Object.entries(GUARDED_FIELDS).map(([kind, { verb }]) => ({
      apiGroups: [GROUP],
      resources: [pluralOf(kind as ResourceKind)],
      verbs: [verb],
    })),
  ]),
]

function userRole(name: string, rules: readonly Rule[]): object {
  const labels = { [`${AUTHORIZATION}/aggregate-to-${name}`]: 'true' }
  return { apiVersion: `${AUTHORIZATION}/v1`, kind: 'ClusterRole', metadata: { name: `weir-${name}`, labels }, rules }
}
