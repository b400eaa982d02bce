import type { FastifyInstance, FastifyRequest } from 'fastify'
import { contextOf } from '../../formats/qualified-subject.ts'
import { HttpError } from '../../http/http-error.ts'
import { type AssociationRequest, defaultSubject } from '../commands/association-request.ts'
import { decideDeleteAssociations, planAssociations } from '../commands/change-associations.ts'
import type { DecisionContext } from '../commands/decision-types.ts'
import { decideRegister } from '../commands/register-schema.ts'
import {
  type Association,
  type AssociationLifecycle,
  LIFECYCLES,
  type StoredAssociation,
} from '../model/association.ts'
import { associationNotFound, invalidAssociation, RegistryError } from '../model/registry-error.ts'
import { toContext, toSubject } from '../model/subject.ts'
import { REGISTER_MESSAGES } from '../model/write-error-messages.ts'
import {
  type AssociationFilter,
  associationsByName,
  associationsOfResource,
  associationsOfSubject,
} from '../queries/association-search.ts'
import { operationOn } from './acl-operations.ts'
import { registryErrorResponse } from './error-response.ts'
import {
  type AssociationBody,
  type AssociationOperation,
  type BatchRequest,
  checkAssociationType,
  checkResource,
  DEFAULT_RESOURCE_TYPE,
  parseAssociationBody,
  parseBatch,
  parseSearch,
  type SearchRequest,
  toAssociationRequest,
} from './parse-association-request.ts'
import { booleanParameter, paginate, stringParameter, stringParameters } from './parse-request.ts'
import { contextIn, paramsOf, queryOf, type RouteContext } from './route-context.ts'
import { toRegisterResponse, toSchemaResponse } from './schema-response.ts'

const RESOURCE = '/associations/resources/:resourceId'

/** `/associations`: associations between resources, such as topics, and the subjects that they use. */
export function associationRoutes(app: FastifyInstance, route: RouteContext): void {
  app.get('/associations/subjects/:subject', { config: { metric: 'associations.by-subject' } }, async (request) =>
    list(route, request, associationsOfSubject(route.view, route.subject(request), filterIn(request))),
  )

  app.get(RESOURCE, { config: { metric: 'associations.by-resource-id' } }, async (request) =>
    list(route, request, associationsOfResource(route.view, resourceIdIn(request), filterIn(request))),
  )

  app.get(
    '/associations/resources/:resourceNamespace/:resourceName',
    { config: { metric: 'associations.by-resource-name' } },
    async (request) => {
      const { resourceName: name = '', resourceNamespace: namespace = '' } = paramsOf(request)
      return list(route, request, associationsByName(route.view, { name, namespace }, filterIn(request)))
    },
  )

  app.post('/associations', { config: { metric: 'association.create' } }, async (request, reply) => {
    const body = parseAssociationBody(request.body)
    const options = { isCreate: true, dryRun: isDryRun(request) }
    const requested = toRequest(route, request, body, options)
    return route.onLeader(request, reply, REGISTER_MESSAGES, () => change(route, requested, options))
  })

  app.put(RESOURCE, { config: { metric: 'association.upsert' } }, async (request, reply) => {
    const body = parseAssociationBody(request.body)
    const resourceId = resourceIdIn(request)
    if (body.resourceId != null && body.resourceId !== resourceId) {
      throw invalidAssociation(
        'resourceId',
        'Resource ID in the path parameter does not match the resource ID in the request body',
      )
    }
    const options = { isCreate: false, dryRun: isDryRun(request) }
    const requested = toRequest(route, request, { ...body, resourceId }, options)
    return route.onLeader(request, reply, REGISTER_MESSAGES, () => change(route, requested, options))
  })

  app.delete(RESOURCE, { config: { metric: 'associations.delete' } }, async (request, reply) => {
    const resourceId = resourceIdIn(request)
    const filter = filterIn(request)
    const found = associationsOfResource(route.view, resourceId, filter)
    if (found.length === 0) throw associationNotFound(resourceId)
    const cascade = booleanParameter(queryOf(request), 'cascadeLifecycle')
    requireDeletion(request, found, cascade)
    const decide = (context: DecisionContext) =>
      decideDeleteAssociations(context, resourceId, filter, { cascade, dryRun: isDryRun(request), isRequired: true })
    return route.write(request, reply, { operation: REGISTER_MESSAGES, decide, answer: () => reply.code(204).send() })
  })

  app.post('/associations::batchGet', { config: { metric: 'associations.batch-get' } }, async (request, reply) => {
    const withSchemas = booleanParameter(queryOf(request), 'includeSchemas')
    const results = parseSearch(request.body).map((search) => searchResult(route, request, search, withSchemas))
    return reply.code(207).send({ results })
  })

  app.post(
    '/associations::batchMutate',
    { config: { metric: 'associations.batch-mutate' } },
    async (request, reply) => {
      const requests = parseBatch(request.body)
      return route.onLeader(request, reply, REGISTER_MESSAGES, async () => {
        const results: object[] = []
        // In sequence, so that each request sees what the earlier ones wrote.
        for (const one of requests) results.push(await mutationResult(route, request, one))
        return reply.code(207).send({ results })
      })
    },
  )
}

type ChangeOptions = { readonly isCreate: boolean; readonly dryRun: boolean }

/** Also checks the permission on each subject. Throws a 403 error, and as `toAssociationRequest`. */
function toRequest(
  route: RouteContext,
  request: FastifyRequest,
  body: AssociationBody,
  options: ChangeOptions,
): AssociationRequest {
  const context = contextOfRequest(request)
  const requested = toAssociationRequest(body, {
    ...options,
    toSubject: (name) => route.resolveAlias(toSubject(name, context)),
  })
  const existing = associationsOfResource(route.view, requested.resourceId ?? '', requested)
  for (const { subject: named, associationType, schema } of requested.changes) {
    const stored = existing.find((association) => association.associationType === associationType)
    const subject = named ?? stored?.subject ?? defaultSubject(requested, associationType)
    request.rights.require(operationOn(subject, request, route.registry.decisionContext), subject)
    if (schema) route.checkReferences(request, subject, schema.schema.references)
  }
  return requested
}

/** Registers the schemas of the request, then plans the associations again with those schemas and writes them. */
async function change(
  route: RouteContext,
  requested: AssociationRequest,
  options: ChangeOptions,
  registered = new Map<string, object>(),
): Promise<object> {
  const { registry } = route
  for (const { schema } of requested.changes)
    if (schema) await registry.decisionContext.schemas.formats.load(schema.schema.type)
  const plan = await registry.withDecisionContext((context) => planAssociations(context, requested, options))
  if (options.dryRun) return response(requested, [], new Map())
  for (const { associationType, registration } of plan.registrations) {
    const { schema } = await registry.write((context) => decideRegister(context, registration), REGISTER_MESSAGES)
    registered.set(associationType, {
      subject: schema.subject,
      ...toRegisterResponse(schema, { profile: route.profile, changed: true }),
    })
  }
  const written = await registry.write((context) => {
    const { associations } = planAssociations(context, requested, options)
    const records = associations.map(
      (association) => ({ kind: 'association', association, value: association }) as const,
    )
    return { records, answer: associations }
  }, REGISTER_MESSAGES)
  return response(requested, written, registered)
}

type ResourceOfResponse = Omit<AssociationRequest, 'changes'>

function response(
  { resourceName, resourceNamespace, resourceId, resourceType }: ResourceOfResponse,
  associations: readonly Association[],
  schemas: ReadonlyMap<string, object>,
): object {
  const listed = associations.map(({ subject, associationType, lifecycle }) => {
    const schema = schemas.get(associationType)
    return {
      subject,
      associationType,
      lifecycle,
      ...(schema ? { schema } : {}),
    }
  })
  return {
    resourceName,
    resourceNamespace,
    ...(resourceId === undefined ? {} : { resourceId }),
    resourceType,
    ...(listed.length === 0 ? {} : { associations: listed }),
  }
}

async function mutationResult(route: RouteContext, request: FastifyRequest, one: BatchRequest): Promise<object> {
  const dryRun = isDryRun(request)
  try {
    const resource = checkResource(one, dryRun)
    const schemas = new Map<string, object>()
    for (const run of runsOf(one.associations ?? [])) await applyRun(route, request, one, run, schemas)
    const associations = dryRun ? [] : associationsOfResource(route.view, resource.resourceId ?? '', resource)
    return { result: response(resource, associations, schemas) }
  } catch (error) {
    return { error: errorOf(route, error, 'Error while creating association: ') }
  }
}

/**
 * Groups consecutive operations with the same `opType`. Each group is applied as one request, because all associations
 * of a resource have to change their lifecycle together.
 */
function runsOf(operations: readonly AssociationOperation[]): readonly (readonly AssociationOperation[])[] {
  if (operations.length === 0) throw invalidAssociation('associations', 'cannot be null or empty')
  const types = new Set<string>()
  for (const { associationType } of operations) {
    const type = checkAssociationType(associationType)
    if (types.has(type)) {
      throw invalidAssociation(
        'associationType',
        `may only appear once per request, but '${type}' appears more than once`,
      )
    }
    types.add(type)
  }
  const runs: AssociationOperation[][] = []
  for (const operation of operations) {
    const last = runs.at(-1)
    if (last && last[0]?.opType === operation.opType) last.push(operation)
    else runs.push([operation])
  }
  return runs
}

async function applyRun(
  route: RouteContext,
  request: FastifyRequest,
  one: BatchRequest,
  run: readonly AssociationOperation[],
  registered: Map<string, object>,
): Promise<void> {
  const dryRun = isDryRun(request)
  if (run[0]?.opType !== 'DELETE') {
    const options = { isCreate: run[0]?.opType === 'CREATE', dryRun }
    await change(route, toRequest(route, request, { ...one, associations: [...run] }, options), options, registered)
    return
  }
  const { resourceId = '', resourceType } = checkResource(one, dryRun)
  for (const { associationType, cascadeLifecycle } of run) {
    const filter = { resourceType, associationTypes: [checkAssociationType(associationType)] }
    const cascade = cascadeLifecycle === true
    requireDeletion(request, associationsOfResource(route.view, resourceId, filter), cascade)
    const options = { cascade, dryRun, isRequired: false }
    await route.registry.write(
      (context) => decideDeleteAssociations(context, resourceId, filter, options),
      REGISTER_MESSAGES,
    )
  }
}

function searchResult(
  route: RouteContext,
  request: FastifyRequest,
  search: SearchRequest,
  withSchemas: boolean,
): object {
  try {
    const { resourceName, resourceNamespace, resourceId } = search
    if (!resourceId && !resourceName)
      throw invalidSearch('resourceId', 'either resourceId or resourceName must be specified')
    if (resourceName && !resourceNamespace) {
      throw invalidSearch('resourceNamespace', 'resourceNamespace is required when resourceName is specified')
    }
    const resourceType = search.resourceType || DEFAULT_RESOURCE_TYPE
    const filter = {
      resourceType,
      associationTypes: search.associationTypes ?? [],
      lifecycle: search.lifecycle ?? undefined,
    }
    const found = resourceId
      ? associationsOfResource(route.view, resourceId, filter)
      : associationsByName(route.view, { name: resourceName ?? '', namespace: resourceNamespace ?? '' }, filter)
    const isReadable = route.readable(request)
    const associations = found.filter(({ subject }) => isReadable(subject))
    const [first] = associations
    const resource = {
      resourceName: resourceName ?? first?.resourceName,
      resourceNamespace: resourceNamespace ?? first?.resourceNamespace,
      resourceId: resourceId ?? first?.resourceId,
      resourceType,
    }
    const latest = withSchemas
      ? associations.map((one) => [one.associationType, route.view.latest(one.subject)] as const)
      : []
    const schemas = new Map(
      latest.flatMap(([type, version]) =>
        version ? [[type, toSchemaResponse(version, { profile: route.profile })] as const] : [],
      ),
    )
    return { result: response(resource as ResourceOfResponse, associations, schemas) }
  } catch (error) {
    return { error: errorOf(route, error, 'Error while getting associations: ') }
  }
}

/** As in Confluent's registry, an invalid search is an internal error in the result of that search only. */
function invalidSearch(property: string, detail: string): Error {
  return new Error(`property: ${property}; detail: ${detail}`)
}

/**
 * Errors that an association can cause keep their code in a batch. As in Confluent's registry, all others are a 500.
 */
function errorOf(route: RouteContext, error: unknown, prefix: string): object {
  if (error instanceof RegistryError && KEPT_IN_BATCHES.has(error.code)) {
    const body = registryErrorResponse(error, route.profile)?.body as {
      readonly error_code: number
      readonly message: string
    }
    return error.code === 'invalid_schema' ? { ...body, error_code: 42212 } : body
  }
  if (error instanceof HttpError && error.status === 403) return { error_code: 403, message: error.message }
  return { error_code: 500, message: `${prefix}${error instanceof Error ? error.message : String(error)}` }
}

const KEPT_IN_BATCHES: ReadonlySet<string> = new Set([
  'invalid_association',
  'association_exists',
  'association_for_subject_exists',
  'strong_association_exists',
  'association_frozen',
  'no_active_version',
  'reference_exists',
  'invalid_schema',
  'schema_too_large',
  'incompatible_schema',
])

/** A cascading delete of a STRONG association hard-deletes the subject and so needs the `harddelete` permission. */
function requireDeletion(request: FastifyRequest, associations: readonly StoredAssociation[], cascade: boolean): void {
  for (const { subject, lifecycle } of associations) {
    request.rights.require(cascade && lifecycle === 'STRONG' ? 'harddelete' : 'delete', subject)
  }
  if (associations.length === 0) request.rights.requireAny('delete')
}

function list(
  route: RouteContext,
  request: FastifyRequest,
  associations: readonly StoredAssociation[],
): readonly object[] {
  const isReadable = route.readable(request)
  const readable = associations.filter(({ subject }) => isReadable(subject))
  return paginate(readable, queryOf(request), route.limits('schema')).map(toAssociationResponse)
}

/** As in Confluent's registry, `frozen` is omitted if it has the default value of the lifecycle. */
export function toAssociationResponse(association: StoredAssociation): object {
  const { frozen, createTimestampMs, updateTimestampMs, ...members } = association
  const isDefault = frozen === (association.lifecycle === 'STRONG')
  return { ...members, ...(isDefault ? {} : { frozen }), createTs: createTimestampMs, updateTs: updateTimestampMs }
}

function filterIn(request: FastifyRequest): AssociationFilter {
  const query = queryOf(request)
  const lifecycle = stringParameter(query, 'lifecycle')
  return {
    resourceType: stringParameter(query, 'resourceType') || DEFAULT_RESOURCE_TYPE,
    associationTypes: stringParameters(query, 'associationType'),
    lifecycle: lifecycle === undefined ? undefined : lifecycleIn(lifecycle),
  }
}

function lifecycleIn(word: string): AssociationLifecycle {
  const lifecycle = LIFECYCLES.find((one) => one === word)
  if (!lifecycle) throw new RegistryError('no_such_resource', 'HTTP 404 Not Found')
  return lifecycle
}

function resourceIdIn(request: FastifyRequest): string {
  return paramsOf(request)['resourceId'] ?? ''
}

/** The context of the path, otherwise that of the `context` query parameter. */
function contextOfRequest(request: FastifyRequest): string {
  const named = stringParameter(queryOf(request), 'context')
  const inPath = contextIn(request)
  if (paramsOf(request)['context'] !== undefined || named === undefined || named === '') return inPath
  return contextOf(named.endsWith(':') ? named : `:${toContext(named) ?? '.'}:`)
}

function isDryRun(request: FastifyRequest): boolean {
  return booleanParameter(queryOf(request), 'dryRun')
}
