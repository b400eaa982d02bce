import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { contextOf } from '../../formats/qualified-subject.ts'
import { addEndpoint, noContent } from '../../http/endpoint.ts'
import { type AssociationRequest, defaultSubject } from '../commands/association-request.ts'
import {
  type ChangedAssociations,
  type ChangeOptions,
  decideAssociations,
  decideDeleteAssociations,
} from '../commands/change-associations.ts'
import type { DecisionContext } from '../commands/decision-types.ts'
import type { AssociationLifecycle, StoredAssociation } from '../model/association.ts'
import { associationNotFound, invalidAssociation } from '../model/registry-error.ts'
import { toContext, toSubject } from '../model/subject.ts'
import { REGISTER_MESSAGES } from '../model/write-error-messages.ts'
import {
  type AssociationFilter,
  associationsByName,
  associationsOfResource,
  associationsOfSubject,
} from '../queries/association-search.ts'
import { operationOn } from './acl-operations.ts'
import {
  type AssociatedSchema,
  toAssociationResponse,
  toBatchError,
  toResourceResponse,
} from './association-response.ts'
import { association, associationResults, resourceAssociations } from './entities.ts'
import { ASSOCIATION_ERRORS } from './error-response.ts'
import {
  type AssociationBody,
  type AssociationOperation,
  associationBody,
  type BatchRequest,
  batchBody,
  checkAssociationType,
  checkResource,
  DEFAULT_RESOURCE_TYPE,
  type SearchRequest,
  searchBody,
  toAssociationRequest,
} from './parse-association-request.ts'
import { type Page, paginate, query } from './query-parameters.ts'
import { contextIn, paramsOf, type RouteContext } from './route-context.ts'
import { toRegisterResponse, toSchemaResponse } from './schema-response.ts'

const RESOURCE = '/associations/resources/:resourceId'

/** `/associations`: associations between resources, such as topics, and the subjects that they use. */
export function associationRoutes(app: FastifyInstance, route: RouteContext): void {
  const list = {
    method: 'GET',
    querystring: query('resourceType', 'associationType', 'lifecycle', 'offset', 'limit'),
    response: { 200: z.array(association) },
  } as const

  addEndpoint(app, {
    ...list,
    url: '/associations/subjects/:subject',
    summary: 'Lists the associations of a subject',
    permission: { operation: 'read', on: 'subject' },
    metric: 'associations.by-subject',
    errors: ['no_such_resource', 'invalid_association'],
    handler: async (request) =>
      page(route, request, associationsOfSubject(route.view, route.subject(request), filterOf(request.query))),
  })

  addEndpoint(app, {
    ...list,
    url: RESOURCE,
    summary: 'Lists the associations of a resource by its ID',
    permission: { operation: 'read', on: 'any' },
    metric: 'associations.by-resource-id',
    errors: ['no_such_resource', 'invalid_association'],
    handler: async (request) =>
      page(route, request, associationsOfResource(route.view, request.params.resourceId, filterOf(request.query))),
  })

  addEndpoint(app, {
    ...list,
    url: '/associations/resources/:resourceNamespace/:resourceName',
    summary: 'Lists the associations of a resource by its name; - matches any name or namespace',
    permission: { operation: 'read', on: 'any' },
    metric: 'associations.by-resource-name',
    errors: ['no_such_resource', 'invalid_association'],
    handler: async (request) => {
      const { resourceName: name, resourceNamespace: namespace } = request.params
      return page(route, request, associationsByName(route.view, { name, namespace }, filterOf(request.query)))
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: '/associations',
    summary: 'Creates associations of a resource and registers their schemas',
    permission: { operation: 'write', on: 'any' },
    metric: 'association.create',
    querystring: query('context', 'dryRun'),
    body: associationBody,
    response: { 200: resourceAssociations },
    errors: ASSOCIATION_ERRORS,
    handler: async (request, reply) => {
      const options = { isCreate: true, dryRun: request.query.dryRun }
      const requested = await toRequest(route, request, request.body, options)
      return route.write(request, reply, {
        operation: REGISTER_MESSAGES,
        decide: (context: DecisionContext) => decideAssociations(context, requested, options),
        answer: (changed) => toResourceResponse(requested, changed.associations, registeredSchemas(route, changed)),
      })
    },
  })

  addEndpoint(app, {
    method: 'PUT',
    url: RESOURCE,
    summary: 'Creates or updates associations of a resource',
    permission: { operation: 'write', on: 'any' },
    metric: 'association.upsert',
    querystring: query('context', 'dryRun'),
    body: associationBody,
    response: { 200: resourceAssociations },
    errors: ASSOCIATION_ERRORS,
    handler: async (request, reply) => {
      const { body } = request
      const { resourceId } = request.params
      if (body.resourceId != null && body.resourceId !== resourceId) {
        throw invalidAssociation(
          'resourceId',
          'Resource ID in the path parameter does not match the resource ID in the request body',
        )
      }
      const options = { isCreate: false, dryRun: request.query.dryRun }
      const requested = await toRequest(route, request, { ...body, resourceId }, options)
      return route.write(request, reply, {
        operation: REGISTER_MESSAGES,
        decide: (context: DecisionContext) => decideAssociations(context, requested, options),
        answer: (changed) => toResourceResponse(requested, changed.associations, registeredSchemas(route, changed)),
      })
    },
  })

  addEndpoint(app, {
    method: 'DELETE',
    url: RESOURCE,
    summary: 'Deletes associations of a resource',
    permission: { operation: 'delete', on: 'any' },
    metric: 'associations.delete',
    querystring: query('resourceType', 'associationType', 'lifecycle', 'cascadeLifecycle', 'dryRun'),
    response: { 204: noContent },
    errors: [
      'no_such_resource',
      'association_not_found',
      'association_frozen',
      'invalid_association',
      'reference_exists',
      'not_permitted',
    ],
    handler: async (request, reply) => {
      const { resourceId } = request.params
      const { cascadeLifecycle: cascade, dryRun } = request.query
      const filter = filterOf(request.query)
      const found = associationsOfResource(route.view, resourceId, filter)
      if (found.length === 0) throw associationNotFound(resourceId)
      requireDeletion(request, found, cascade)
      return route.write(request, reply, {
        operation: REGISTER_MESSAGES,
        decide: (context: DecisionContext) =>
          decideDeleteAssociations(context, resourceId, filter, { cascade, dryRun, isRequired: true }),
        answer: () => reply.code(204).send(),
      })
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: '/associations::batchGet',
    summary: 'Returns the associations of several resources',
    permission: { operation: 'read', on: 'any' },
    metric: 'associations.batch-get',
    querystring: query('includeSchemas'),
    body: searchBody,
    response: { 207: associationResults },
    errors: ['no_such_resource', 'invalid_association'],
    handler: async (request, reply) => {
      const { includeSchemas } = request.query
      void reply.code(207)
      return { results: request.body.map((search) => searchResult(route, request, search, includeSchemas)) }
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: '/associations::batchMutate',
    summary: 'Changes the associations of several resources, each independently of the others',
    permission: { operation: 'write', on: 'any' },
    metric: 'associations.batch-mutate',
    querystring: query('context', 'dryRun'),
    body: batchBody,
    response: { 207: associationResults },
    errors: ['no_such_resource', 'invalid_association'],
    handler: async (request, reply) =>
      route.onLeader(request, reply, REGISTER_MESSAGES, async () => {
        const results: Awaited<ReturnType<typeof mutationResult>>[] = []
        // In sequence, so that each request sees what the earlier ones wrote.
        for (const one of request.body) results.push(await mutationResult(route, request, one))
        void reply.code(207)
        return { results }
      }),
  })
}

type ChangeRequest = FastifyRequest<{ Querystring: { context?: string | undefined; dryRun: boolean } }>

/** Also checks the permission on each subject, and prepares the schemas. Rejects with a 403 error, and as `toAssociationRequest`. */
async function toRequest(
  route: RouteContext,
  request: ChangeRequest,
  body: AssociationBody,
  options: ChangeOptions,
): Promise<AssociationRequest> {
  const context = contextOfRequest(request)
  const requested = toAssociationRequest(body, {
    ...options,
    toSubject: (name) => route.resolveAlias(toSubject(name, context)),
  })
  const existing = associationsOfResource(route.view, requested.resourceId ?? '', requested)
  for (const { subject: named, associationType, schema } of requested.changes) {
    const stored = existing.find((one) => one.associationType === associationType)
    const subject = named ?? stored?.subject ?? defaultSubject(requested, associationType)
    request.rights.require(operationOn(subject, request, route.registry.decisionContext), subject)
    if (schema) await route.prepareSchema(request, subject, schema)
  }
  return requested
}

function registeredSchemas(
  { profile }: RouteContext,
  { schemas }: ChangedAssociations,
): ReadonlyMap<string, AssociatedSchema> {
  const bodies = [...schemas].map(([type, schema]) => {
    const body = { subject: schema.subject, ...toRegisterResponse(schema, { profile, changed: true }) }
    return [type, body] as const
  })
  return new Map(bodies)
}

async function mutationResult(route: RouteContext, request: ChangeRequest, one: BatchRequest) {
  const { dryRun } = request.query
  try {
    const resource = checkResource(one, dryRun)
    const schemas = new Map<string, AssociatedSchema>()
    for (const run of runsOf(one.associations ?? [])) {
      for (const [type, schema] of await applyRun(route, request, one, run)) schemas.set(type, schema)
    }
    const associations = dryRun ? [] : associationsOfResource(route.view, resource.resourceId ?? '', resource)
    return { result: toResourceResponse(resource, associations, schemas) }
  } catch (error) {
    return { error: toBatchError(error, 'Error while creating association: ', route.profile) }
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

/** Returns the schemas that were registered, by the type of their association. */
async function applyRun(
  route: RouteContext,
  request: ChangeRequest,
  one: BatchRequest,
  run: readonly AssociationOperation[],
): Promise<ReadonlyMap<string, AssociatedSchema>> {
  const { registry } = route
  const { dryRun } = request.query
  if (run[0]?.opType !== 'DELETE') {
    const options = { isCreate: run[0]?.opType === 'CREATE', dryRun }
    const requested = await toRequest(route, request, { ...one, associations: [...run] }, options)
    const decide = (context: DecisionContext) => decideAssociations(context, requested, options)
    return registeredSchemas(route, await registry.write(decide, REGISTER_MESSAGES))
  }
  const { resourceId = '', resourceType } = checkResource(one, dryRun)
  for (const { associationType, cascadeLifecycle } of run) {
    const filter = { resourceType, associationTypes: [checkAssociationType(associationType)] }
    const cascade = cascadeLifecycle === true
    requireDeletion(request, associationsOfResource(route.view, resourceId, filter), cascade)
    const options = { cascade, dryRun, isRequired: false }
    await registry.write((context) => decideDeleteAssociations(context, resourceId, filter, options), REGISTER_MESSAGES)
  }
  return new Map()
}

function searchResult(route: RouteContext, request: FastifyRequest, search: SearchRequest, withSchemas: boolean) {
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
    return { result: toResourceResponse(resource, associations, schemas) }
  } catch (error) {
    return { error: toBatchError(error, 'Error while getting associations: ', route.profile) }
  }
}

/** As in Confluent's registry, an invalid search is an internal error in the result of that search only. */
function invalidSearch(property: string, detail: string): Error {
  return new Error(`property: ${property}; detail: ${detail}`)
}

/** A cascading delete of a STRONG association hard-deletes the subject and so needs the `harddelete` permission. */
function requireDeletion(request: FastifyRequest, associations: readonly StoredAssociation[], cascade: boolean): void {
  for (const { subject, lifecycle } of associations) {
    request.rights.require(cascade && lifecycle === 'STRONG' ? 'harddelete' : 'delete', subject)
  }
  if (associations.length === 0) request.rights.requireAny('delete')
}

function page(
  route: RouteContext,
  request: FastifyRequest<{ Querystring: Page }>,
  associations: readonly StoredAssociation[],
) {
  const isReadable = route.readable(request)
  const readable = associations.filter(({ subject }) => isReadable(subject))
  return paginate(readable, request.query, route.limits('schema')).map(toAssociationResponse)
}

type FilterQuery = {
  readonly resourceType?: string | undefined
  readonly associationType: readonly string[]
  readonly lifecycle?: AssociationLifecycle | undefined
}

function filterOf({ resourceType, associationType, lifecycle }: FilterQuery): AssociationFilter {
  return { resourceType: resourceType || DEFAULT_RESOURCE_TYPE, associationTypes: associationType, lifecycle }
}

/** The context of the path, otherwise that of the `context` query parameter. */
function contextOfRequest(request: ChangeRequest): string {
  const { context: named } = request.query
  const inPath = contextIn(request)
  if (paramsOf(request)['context'] !== undefined || named === undefined || named === '') return inPath
  return contextOf(named.endsWith(':') ? named : `:${toContext(named) ?? '.'}:`)
}
