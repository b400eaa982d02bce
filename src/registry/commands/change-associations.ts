import { randomUUID } from 'node:crypto'
import { contextOf } from '../../formats/qualified-subject.ts'
import type { Association, AssociationLifecycle, StoredAssociation } from '../model/association.ts'
import {
  associationExists,
  associationForSubjectExists,
  associationFrozen,
  associationNotFound,
  incompatibleAssociationSchema,
  invalidAssociation,
  noActiveVersion,
  RegistryError,
  referenceToSubjectExists,
  strongAssociationExists,
} from '../model/registry-error.ts'
import { type Subject, toSubject } from '../model/subject.ts'
import {
  type AssociationFilter,
  associationsByName,
  associationsOfResource,
  associationsOfSubject,
  latestResource,
} from '../queries/association-search.ts'
import { modeInScope } from '../queries/effective-config.ts'
import { checkCompatibility } from '../queries/find-incompatibilities.ts'
import { lookUpSchema } from '../queries/schema-lookup.ts'
import { withPending } from '../store/pending-view.ts'
import type { StoredSchema } from '../store/registry-record.ts'
import type { RegistryView } from '../store/registry-view.ts'
import {
  type AssociationChange,
  type AssociationRequest,
  checkFrozen,
  defaultSubject,
  withDefaults,
} from './association-request.ts'
import { type Decision, type DecisionContext, nothingToWrite } from './decision-types.ts'
import { subjectDeletion } from './delete-schema.ts'
import { checkWritable, isImporting } from './mode-checks.ts'
import { decideRegister, type Registration } from './register-schema.ts'

/** A change with its subject and lifecycle resolved, and the existing association, if any. */
type ResolvedChange = AssociationChange & {
  readonly subject: Subject
  readonly lifecycle: AssociationLifecycle
  readonly existing: StoredAssociation | undefined
}

type AssociationPlan = {
  /** The schemas to register, each with the type of its association. */
  readonly registrations: readonly { readonly associationType: string; readonly registration: Registration }[]
  /** The associations to write, without those that already are as requested. */
  readonly associations: readonly Association[]
}

export type ChangeOptions = { readonly isCreate: boolean; readonly dryRun: boolean }

/** The associations that were written, and the schemas that were registered, by the type of their association. */
export type ChangedAssociations = {
  readonly associations: readonly Association[]
  readonly schemas: ReadonlyMap<string, StoredSchema>
}

/**
 * Registers the schemas of a request and writes its associations. All records are one batch, so an association never exists
 * without its schema, nor the key's without the value's. Throws a `RegistryError`.
 */
export async function decideAssociations(
  context: DecisionContext,
  request: AssociationRequest,
  options: ChangeOptions,
): Promise<Decision<ChangedAssociations>> {
  const plan = await planAssociations(context, request, options)
  const schemas = new Map<string, StoredSchema>()
  if (options.dryRun) return nothingToWrite({ associations: [], schemas })
  const records: Decision<unknown>['records'][number][] = []
  for (const { associationType, registration } of plan.registrations) {
    const registered = await decideRegister({ ...context, view: withPending(context.view, records) }, registration)
    records.push(...registered.records)
    schemas.set(associationType, registered.answer.schema)
  }
  for (const association of plan.associations) records.push({ kind: 'association', association, value: association })
  return { records, answer: { associations: plan.associations, schemas } }
}

/** Plans the changes for one resource, with the rules and messages of Confluent's registry. Throws a `RegistryError`. */
async function planAssociations(
  context: DecisionContext,
  request: AssociationRequest,
  { isCreate, dryRun }: ChangeOptions,
): Promise<AssociationPlan> {
  const { view, defaults } = context
  for (const { subject } of request.changes) if (subject !== undefined) checkWritable(view, subject, defaults)
  checkTypesOnce(request)
  const existing = existingByType(view, request, isCreate && dryRun)
  const resolved: ResolvedChange[] = []
  for (const change of request.changes) {
    resolved.push(await resolveChange(context, request, change, existing.get(change.associationType), isCreate))
  }
  const changed: ResolvedChange[] = []
  for (const change of resolved) {
    if (!(await isUnchanged(context, request, change, isCreate))) changed.push(change)
  }
  checkUniformLifecycle(view, request, resolved)
  for (const change of resolved) checkSubjectUse(context, resolved, change)
  for (const { subject, schema } of resolved) {
    if (!schema) continue
    const live = view.versions(subject).filter(({ deleted }) => !deleted)
    const messages = await checkCompatibility(context, subject, schema.schema, live, { normalize: schema.normalize })
    if (messages.length > 0) throw incompatibleAssociationSchema(messages)
  }
  return {
    registrations: resolved.flatMap(({ subject, associationType, schema }) =>
      schema ? [{ associationType, registration: { ...schema, subject, force: false } }] : [],
    ),
    associations: changed.map((change) => toAssociation(request, change)),
  }
}

/**
 * Deletes the associations of a resource. `cascade` also hard-deletes the subjects of STRONG associations, except in
 * IMPORT and FORWARD mode. Throws `association_frozen` for a frozen association without `cascade`, and
 * `association_not_found` if `isRequired` and none matches.
 */
export function decideDeleteAssociations(
  context: DecisionContext,
  resourceId: string,
  filter: AssociationFilter,
  {
    cascade,
    dryRun,
    isRequired,
  }: { readonly cascade: boolean; readonly dryRun: boolean; readonly isRequired: boolean },
): Decision<undefined> {
  const { view, defaults } = context
  const found = associationsOfResource(view, resourceId, filter)
  if (found.length === 0 && isRequired) throw associationNotFound(resourceId)
  for (const { subject, frozen, associationType } of found) {
    checkWritable(view, subject, defaults)
    if (frozen && !cascade) throw associationFrozen(associationType, subject)
  }
  if (dryRun) return { records: [], answer: undefined }
  const records = found.flatMap((association): Decision<unknown>['records'] => {
    const isOwned = cascade && association.lifecycle === 'STRONG'
    const isImported = isImporting(modeInScope(view, association.subject, defaults))
    return [
      { kind: 'association', association, value: null },
      ...(isOwned && !isImported ? subjectDeletion(view, association.subject) : []),
    ]
  })
  return { records, answer: undefined }
}

function checkTypesOnce({ changes }: AssociationRequest): void {
  const seen = new Set<string>()
  for (const { associationType } of changes) {
    if (seen.has(associationType)) {
      throw invalidAssociation(
        'associationType',
        `may only appear once per request, but '${associationType}' appears more than once`,
      )
    }
    seen.add(associationType)
  }
}

function existingByType(
  view: RegistryView,
  request: AssociationRequest,
  byName: boolean,
): ReadonlyMap<string, StoredAssociation> {
  const { resourceId, resourceType, resourceName: name, resourceNamespace: namespace } = request
  const filter = { resourceType, associationTypes: request.changes.map(({ associationType }) => associationType) }
  const found =
    resourceId !== undefined
      ? associationsOfResource(view, resourceId, filter)
      : byName
        ? latestResource(associationsByName(view, { name, namespace }, filter))
        : []
  return new Map(found.map((association) => [association.associationType, association]))
}

async function resolveChange(
  context: DecisionContext,
  request: AssociationRequest,
  requested: AssociationChange,
  existing: StoredAssociation | undefined,
  isCreate: boolean,
): Promise<ResolvedChange> {
  const change = existing === undefined && !isCreate ? withDefaults(requested, false) : requested
  const owned = defaultSubject(request, change.associationType)
  const subject = change.subject ?? existing?.subject ?? (change.lifecycle === 'STRONG' ? owned : undefined)
  if (subject === undefined) throw invalidAssociation('subject', 'must be provided for WEAK associations')
  const lifecycle = change.lifecycle ?? existing?.lifecycle
  if (lifecycle === undefined) throw invalidAssociation('lifecycle', 'lifecycle must be set')
  if (lifecycle === 'WEAK') checkWeak(change, subject, owned)
  const frozen = existing?.frozen ?? change.frozen === true
  checkFrozen(lifecycle, change.frozen ?? frozen)
  if (frozen && subject !== owned) {
    throw invalidAssociation('subject', `frozen associations must use subject '${owned}'`)
  }
  const resolved = { ...change, subject, lifecycle, existing }
  if (existing === undefined) await checkNew(context, resolved, isCreate)
  return resolved
}

function checkWeak({ schema }: AssociationChange, subject: Subject, owned: Subject): void {
  if (schema) throw invalidAssociation('lifecycle', 'cannot be WEAK when schema is provided')
  if (subject === owned) throw invalidAssociation('subject', `WEAK associations cannot use subject '${owned}'`)
}

/** Subjects in IMPORT mode are exempt: the source registry already checked replicated associations. */
async function checkNew(
  context: DecisionContext,
  { subject, lifecycle, schema }: ResolvedChange,
  isCreate: boolean,
): Promise<void> {
  const { view, defaults } = context
  if (lifecycle !== 'STRONG' || isImporting(modeInScope(view, subject, defaults))) return
  if (!isCreate) {
    throw invalidAssociation(
      'lifecycle',
      'cannot be STRONG when creating an association; STRONG associations must be created with the topic',
    )
  }
  if (!schema) throw invalidAssociation('schema', 'schema must be provided when creating a frozen association')
  const latest = view.latest(subject)
  if (latest !== undefined && (latest.version !== 1 || !(await isRegistered(context, subject, schema)))) {
    throw invalidAssociation('frozen', 'cannot create a frozen association when schemas already exist in the subject')
  }
}

async function isRegistered(
  context: DecisionContext,
  subject: Subject,
  { schema, normalize }: NonNullable<AssociationChange['schema']>,
): Promise<boolean> {
  try {
    return (await lookUpSchema(context, subject, schema, { normalize, deleted: false })) !== undefined
  } catch (error) {
    if (error instanceof RegistryError && /^(schema|subject)_not_found$/.test(error.code)) return false
    throw error
  }
}

/** Whether the association exists as requested. Throws if the existing one cannot be changed as requested. */
async function isUnchanged(
  context: DecisionContext,
  request: AssociationRequest,
  { subject, associationType, lifecycle, frozen, schema, existing }: ResolvedChange,
  isCreate: boolean,
): Promise<boolean> {
  if (existing === undefined) return false
  const isSame =
    existing.subject === subject &&
    existing.lifecycle === lifecycle &&
    (frozen === undefined || existing.frozen === frozen)
  if (isSame && (!isCreate || !schema || (await isRegistered(context, subject, schema)))) return true
  if (isCreate) throw associationExists(associationType, existing.resourceName)
  const requested = request.changes.find((one) => one.associationType === associationType)
  if (requested?.lifecycle === undefined && !schema) {
    throw invalidAssociation('lifecycle', 'at least lifecycle or schema must be provided for update')
  }
  if (existing.subject !== subject) {
    throw invalidAssociation(
      'subject',
      `subject of association cannot be changed from '${existing.subject}' to '${subject}'`,
    )
  }
  const owned = defaultSubject(request, associationType)
  if (existing.lifecycle === 'STRONG' && lifecycle === 'WEAK' && existing.subject === owned) {
    throw invalidAssociation('lifecycle', `cannot change to WEAK when subject matches default format '${owned}'`)
  }
  if (frozen !== undefined && existing.frozen !== frozen) {
    throw invalidAssociation('frozen', 'frozen attribute of association cannot be changed')
  }
  if (existing.frozen) throw associationFrozen(associationType, existing.subject)
  return false
}

/** All associations of a resource must have the same lifecycle: its subjects are either all owned or all shared. */
function checkUniformLifecycle(
  view: RegistryView,
  { resourceId, resourceType, resourceName: name, resourceNamespace: namespace }: AssociationRequest,
  changes: readonly ResolvedChange[],
): void {
  const stored =
    resourceId === undefined
      ? latestResource(associationsByName(view, { name, namespace }, { resourceType }))
      : associationsOfResource(view, resourceId, { resourceType })
  const lifecycles = new Map(
    [...stored, ...changes].map(({ associationType, lifecycle }) => [associationType, lifecycle] as const),
  )
  if (new Set(lifecycles.values()).size <= 1) return
  const detail = [...lifecycles].map(([type, lifecycle]) => `${type}=${lifecycle}`).join(', ')
  throw invalidAssociation(
    'lifecycle',
    `all associations for a resource must have the same lifecycle, but got ${detail}`,
  )
}

function checkSubjectUse(
  { view, defaults }: DecisionContext,
  changes: readonly ResolvedChange[],
  { subject, lifecycle, schema, existing }: ResolvedChange,
): void {
  if (schema && isImporting(modeInScope(view, subject, defaults))) {
    throw invalidAssociation('schema', `cannot be provided while subject '${subject}' is in IMPORT mode`)
  }
  if (!schema && view.latest(subject) === undefined) throw noActiveVersion(subject)
  const others = associationsOfSubject(view, subject).filter((one) => one.guid !== existing?.guid)
  if (lifecycle === 'WEAK') {
    if (others.some((one) => one.lifecycle === 'STRONG')) throw strongAssociationExists(subject)
    return
  }
  if (others.length > 0) throw associationForSubjectExists(subject)
  const isReferenced =
    view.versions(subject).some(({ version }) => view.referrers(subject, version).length > 0) ||
    changes.some((change) =>
      change.schema?.schema.references.some(
        (reference) => toSubject(reference.subject, contextOf(change.subject)) === subject,
      ),
    )
  if (isReferenced) throw referenceToSubjectExists(subject)
}

function toAssociation(request: AssociationRequest, { existing, ...change }: ResolvedChange): Association {
  const { subject, associationType, lifecycle, frozen } = change
  if (existing) {
    const { createTimestampMs: _, updateTimestampMs: __, ...association } = existing
    return { ...association, lifecycle, frozen: frozen ?? existing.frozen }
  }
  return {
    guid: randomUUID(),
    subject,
    resourceName: request.resourceName,
    resourceNamespace: request.resourceNamespace,
    resourceId: request.resourceId ?? '',
    resourceType: request.resourceType,
    associationType,
    lifecycle,
    frozen: frozen === true,
  }
}
