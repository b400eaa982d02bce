import { stringify } from 'yaml'
import { API_GROUP } from '../common/resource-api.ts'
import { GUARDED_FIELDS } from './admission/authorization.ts'
import { READ_RECORDS_VERB } from './console/viewer.ts'
import { pluralOf } from './resources/custom-resource-definition.ts'
import { RESOURCE_KINDS, type ResourceKind } from './resources/resource.ts'

export type RbacOptions = {
  /** Namespace of the operator and its service account. */
  readonly namespace: string
  /** Namespaces whose resources it manages; empty: all. */
  readonly watched: readonly string[]
  /** Whether it serves the admission webhook. */
  readonly webhook: boolean
  /** Whether it serves the console and identifies its users by their tokens. */
  readonly console: boolean
  /** Whether connectors may export their offsets to ConfigMaps. */
  readonly offsetsExport: boolean
  /** Whether connectors are restarted when their Secrets change, or take inline values from Secrets. */
  readonly secrets: boolean
  /** Whether its configuration depends on labels or the deletion of namespaces. */
  readonly namespaceLabels: boolean
  /** `instance` of its configuration, if it has one. */
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
const PLURALS = RESOURCE_KINDS.map(pluralOf)

/** Rules in each watched namespace, with the least set of verbs. */
const watchRules = ({ offsetsExport, secrets }: RbacOptions): readonly Rule[] => [
  // Server-side apply of the finalizer and the status.
  { apiGroups: [API_GROUP], resources: PLURALS, verbs: ['list', 'watch', 'patch'] },
  { apiGroups: [API_GROUP], resources: PLURALS.map((plural) => `${plural}/status`), verbs: ['patch'] },
  {
    apiGroups: [''],
    resources: ['configmaps'],
    verbs: ['get', 'list', 'watch', ...(offsetsExport ? ['create', 'patch'] : [])],
  },
  ...(secrets ? [{ apiGroups: [''], resources: ['secrets'], verbs: READ }] : []),
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
]

/** Rules in the operator's own namespace. `create` cannot be restricted by `resourceNames`. */
const leaseRules = (instance: string): readonly Rule[] => [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [`${instance}-operator`],
    verbs: ['get', 'update'],
  },
]

const CERTIFICATE_RULES: readonly Rule[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
  { apiGroups: [''], resources: ['secrets'], resourceNames: ['weir-webhook'], verbs: ['get', 'update'] },
]

const webhookRule = (namespace: string): Rule => ({
  apiGroups: ['admissionregistration.k8s.io'],
  resources: ['validatingwebhookconfigurations'],
  resourceNames: [`weir-${namespace}`],
  verbs: ['create', 'patch'],
})

/** Namespaces are cluster-scoped: access can only be restricted by name. */
const namespaceRule = (watched: readonly string[]): Rule => ({
  apiGroups: [''],
  resources: ['namespaces'],
  ...(watched.length > 0 && { resourceNames: watched }),
  verbs: ['list', 'watch'],
})

/** To check whether a user has a guarded verb, and what a user of the console may read. */
const ACCESS_REVIEW_RULE: Rule = {
  apiGroups: ['authorization.k8s.io'],
  resources: ['subjectaccessreviews'],
  verbs: ['create'],
}

/** To identify the users of the console. */
const TOKEN_REVIEW_RULE: Rule = {
  apiGroups: ['authentication.k8s.io'],
  resources: ['tokenreviews'],
  verbs: ['create'],
}

/** The operator's service account with its roles, and the aggregated roles for users. */
export function rbacOf(options: RbacOptions): readonly object[] {
  const { namespace, watched, webhook, console, namespaceLabels, instance = 'weir' } = options
  const inWatched = watchRules(options)
  const inOwn = [...leaseRules(instance), ...(webhook ? CERTIFICATE_RULES : [])]
  const clusterWide = [
    ...(watched.length === 0 ? inWatched : []),
    ...(namespaceLabels ? [namespaceRule(watched)] : []),
    ...(webhook ? [webhookRule(namespace)] : []),
    ...(webhook || console ? [ACCESS_REVIEW_RULE] : []),
    ...(console ? [TOKEN_REVIEW_RULE] : []),
  ]
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: NAME, namespace } },
    ...roleAndBinding(`${NAME}-own`, inOwn, namespace, namespace),
    ...watched.flatMap((at) => roleAndBinding(NAME, inWatched, namespace, at)),
    ...(clusterWide.length === 0 ? [] : roleAndBinding(`${NAME}-${namespace}`, clusterWide, namespace)),
    ...USERS,
  ]
}

export function rbacText(options: RbacOptions): string {
  return rbacOf(options)
    .map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n')
}

/** A role and its binding, in a namespace or cluster-wide. */
function roleAndBinding(name: string, rules: readonly Rule[], account: string, namespace?: string): readonly object[] {
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

/**
 * Roles that are aggregated to view, edit and admin: users with these roles in a namespace have the same access to its
 * resources. RegistryModes need admin.
 */
const USERS = [
  userRole('view', [{ apiGroups: [API_GROUP], resources: PLURALS, verbs: READ }]),
  userRole('edit', [
    { apiGroups: [API_GROUP], resources: ['connectors', 'connectors/scale', 'subjects'], verbs: WRITE },
  ]),
  userRole('admin', [
    { apiGroups: [API_GROUP], resources: ['registrymodes'], verbs: WRITE },
    ...Object.entries(GUARDED_FIELDS).map(([kind, { verb }]) => ({
      apiGroups: [API_GROUP],
      resources: [pluralOf(kind as ResourceKind)],
      verbs: [verb],
    })),
    { apiGroups: [API_GROUP], resources: ['connectors'], verbs: [READ_RECORDS_VERB] },
  ]),
]

function userRole(name: string, rules: readonly Rule[]): object {
  const labels = { [`${AUTHORIZATION}/aggregate-to-${name}`]: 'true' }
  return { apiVersion: `${AUTHORIZATION}/v1`, kind: 'ClusterRole', metadata: { name: `weir-${name}`, labels }, rules }
}
