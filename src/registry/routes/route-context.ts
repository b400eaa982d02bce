import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ParsedSchema } from '../../formats/format.ts'
import { contextOf, DEFAULT_CONTEXT } from '../../formats/qualified-subject.ts'
import type { SchemaReference } from '../../formats/references.ts'
import type { SchemaTags } from '../../formats/tags.ts'
import type { DecisionResults } from '../commands/decision-results.ts'
import type { Decision, DecisionContext } from '../commands/decision-types.ts'
import type { Forwarder } from '../leadership/forwarder.ts'
import { RegistryError } from '../model/registry-error.ts'
import type { SchemaVersion } from '../model/schema.ts'
import {
  checkScope,
  checkSubject,
  contextSubject,
  GLOBAL,
  type Subject,
  toContext,
  toSubject,
} from '../model/subject.ts'
import type { WriteErrorMessages } from '../model/write-error-messages.ts'
import type { Registry } from '../registry.ts'
import type { RegistryValues } from '../settings.ts'
import type { RegistryView } from '../store/registry-view.ts'
import { operationOn } from './acl-operations.ts'
import {
  booleanParameter,
  formatParameter,
  type PageLimits,
  parseSchemaBody,
  type Query,
  type SchemaBody,
  stringParameter,
  stringParameters,
} from './parse-request.ts'
import type { ResponseProfile, SchemaResponseOptions } from './schema-response.ts'

/** A write request: the decision to make, and how to build the response body from its answer. */
export type Write<Answer> = {
  readonly operation: WriteErrorMessages
  readonly decide: (context: DecisionContext) => Decision<Answer>
  /** Builds the response body. Default: the answer of the decision. */
  readonly answer?: (written: Answer) => unknown
  /** Worker results that the request has already obtained. */
  readonly results?: DecisionResults
}

/** Helpers that the routes of all resources share. */
export class RouteContext {
  readonly registry: Registry
  readonly settings: RegistryValues
  readonly #forwarder: Forwarder
  /** Part of the ETag, because revisions of different instances are not comparable. */
  readonly #instance = randomUUID()

  constructor(registry: Registry, settings: RegistryValues, forwarder: Forwarder) {
    this.registry = registry
    this.settings = settings
    this.#forwarder = forwarder
  }

  get view(): RegistryView {
    return this.registry.decisionContext.view
  }

  /** Marks the request as cacheable: its response depends only on the current registry state. */
  markCacheable(request: FastifyRequest): void {
    request.revision = this.view.revision
  }

  /** Sets the ETag of the response to the current revision. Returns true if the client already has that revision. */
  isNotModified({ headers, rights }: FastifyRequest, reply: FastifyReply): boolean {
    // The set of readable subjects can change without a change of the state.
    if (!rights.allowsAll('read')) return false
    const etag = `"${this.#instance}-${this.view.revision}"`
    reply.header('etag', etag)
    // A proxy that compresses responses makes the ETag weak.
    return headers['if-none-match']?.replace(/^W\//, '') === etag
  }

  get profile(): ResponseProfile {
    return this.settings['weir.response.profile']
  }

  limits(
    kind: 'schema' | 'subject' | 'subject.version' | 'context' | 'kek' | 'dek.subject' | 'dek.version',
  ): PageLimits {
    return {
      default: this.settings[`${kind}.search.default.limit`],
      max: this.settings[`${kind}.search.max.limit`],
    }
  }

  /**
   * The subject of the path, qualified with the path's context, with its alias resolved. Throws `invalid_subject`, and
   * a 403 error if the principal lacks the permission.
   */
  subject(request: FastifyRequest): Subject {
    return this.#permitted(request, this.resolveAlias(this.#named(request)))
  }

  /** Resolves the subject's alias, once: the alias of an alias is not resolved. */
  resolveAlias(subject: Subject): Subject {
    const alias = this.view.config(subject)?.alias
    return alias === undefined || alias === '' ? subject : toSubject(alias, contextOf(subject))
  }

  /**
   * The scope of a `/config` or `/mode` request: a subject, a context, or the global scope (null). Throws as `subject`.
   */
  scope(request: FastifyRequest): Subject | null {
    const { subject } = paramsOf(request)
    const context = contextIn(request)
    const scope = subject === undefined ? contextSubject(context) : checkScope(toSubject(subject, context))
    return this.#permitted(request, scope)
  }

  /** The context of the path. Throws `invalid_context`, and a 403 error if the principal lacks the permission on it. */
  context(request: FastifyRequest): string {
    const context = contextIn(request)
    this.#permitted(request, contextSubject(context))
    return context
  }

  /** Returns the filter that lists and searches apply: whether the principal may read a subject. */
  readable(request: FastifyRequest): (subject: Subject) => boolean {
    const { rights } = request
    return rights.allowsAll('read') ? () => true : (subject) => rights.allows('read', subject)
  }

  /** Returns a predicate: whether the principal may perform the request's operation on a given subject. */
  permits(request: FastifyRequest): (subject: Subject) => boolean {
    return (subject) => request.rights.allows(operationOn(subject, request, this.registry.decisionContext), subject)
  }

  /**
   * Throws a 403 error if the schema references, directly or transitively, a subject that the principal may not read.
   */
  checkReferences(request: FastifyRequest, subject: Subject, references: readonly SchemaReference[]): void {
    if (request.rights.allowsAll('read')) return
    const seen = new Set<string>()
    const check = (from: Subject, names: readonly SchemaReference[]) => {
      for (const { subject: named, version } of names) {
        const referenced = toSubject(named, contextOf(from))
        request.rights.require('read', referenced)
        const key = JSON.stringify([referenced, version])
        if (seen.has(key)) continue
        seen.add(key)
        const found = version === -1 ? this.view.latest(referenced) : this.view.version(referenced, version)
        if (found) check(referenced, found.content.references)
      }
    }
    check(subject, references)
  }

  /** The subject of the `subject` query parameter, with its alias resolved; without it, the context of the path. */
  queriedSubject(request: FastifyRequest): Subject | undefined {
    const named = stringParameter(queryOf(request), 'subject')
    const context = contextIn(request)
    if (named !== undefined && named !== '') return this.resolveAlias(toSubject(named, context))
    return contextSubject(context) ?? undefined
  }

  /** The subject prefix of a list request, within the path's context. `defaultPrefix` applies outside a context. */
  prefix(request: FastifyRequest, defaultPrefix: string): string {
    const context = contextIn(request)
    const named = stringParameter(queryOf(request), 'subjectPrefix')
    return context === DEFAULT_CONTEXT ? (named ?? defaultPrefix) : toSubject(named ?? '', context)
  }

  /**
   * Reads the options of a schema response from the query: `format` (ignored if the schema type does not support it),
   * `findTags` and `referenceFormat`. With a `format`, throws a 403 error if the principal may not read a referenced
   * subject.
   */
  async responseOptions(
    request: FastifyRequest,
    version: SchemaVersion,
    query = queryOf(request),
  ): Promise<SchemaResponseOptions> {
    const format = formatParameter(query)
    // Other formats can include the text of referenced schemas.
    if (format) this.checkReferences(request, version.subject, version.content.references)
    const wanted = stringParameters(query, 'findTags').flatMap((words) => words.split(','))
    const formatted = format ? await this.#withParsedSchema(version, (schema) => schema.formatted(format)) : undefined
    const tags = wanted.length > 0 ? await this.#withParsedSchema(version, (schema) => schema.tags()) : undefined
    return {
      profile: this.profile,
      qualified: stringParameter(query, 'referenceFormat')?.toLowerCase() === 'qualified',
      ...(formatted === undefined ? {} : { text: formatted }),
      ...(tags === undefined ? {} : { tags: tags.filter((one) => isWanted(one, wanted)) }),
    }
  }

  /**
   * Handles a write request: on this instance if it is the leader, otherwise by forwarding it to the leader. A
   * forwarded request is answered after this instance has read what the leader wrote.
   */
  async write<Answer>(
    request: FastifyRequest,
    reply: FastifyReply,
    { operation, decide, answer = (written) => written, results }: Write<Answer>,
  ): Promise<unknown> {
    return this.onLeader(request, reply, operation, async () =>
      answer(await this.registry.write(decide, operation, results)),
    )
  }

  /** Runs `act` if this instance is the leader, otherwise forwards the request, as `write` does. */
  async onLeader(
    request: FastifyRequest,
    reply: FastifyReply,
    operation: WriteErrorMessages,
    act: () => Promise<unknown>,
  ): Promise<unknown> {
    const { registry } = this
    const { leadership } = registry
    registry.checkStore()
    if (leadership.writer()) return act()
    const { status, type, text: body } = await this.#forwarder.forward(leadership.leaderUrl(), request, operation)
    if (status < 300) await registry.refresh()
    return reply
      .code(status)
      .type(type ?? request.responseType)
      .send(body === '' ? undefined : body)
  }

  /** Parses the body, checks access to the referenced subjects and loads the code of the schema type. */
  async readSchemaBody(request: FastifyRequest, subject: Subject): Promise<SchemaBody> {
    const body = parseSchemaBody(request.body)
    this.checkReferences(request, subject, body.schema.references)
    await this.registry.decisionContext.schemas.formats.load(body.schema.type)
    return body
  }

  /** Loads the code of the version's schema type. Await it before parsing the schema. */
  loadFormatOf({ content }: SchemaVersion): Promise<void> {
    return this.registry.decisionContext.schemas.formats.load(content.type)
  }

  #named(request: FastifyRequest): Subject {
    const { subject = '' } = paramsOf(request)
    return checkSubject(toSubject(subject, contextIn(request)), {
      rejectEmpty: this.settings['schema.reject.empty.subject'],
    })
  }

  /** Returns `scope`. Throws a 403 error if the principal lacks the permission for the request's operation on it. */
  #permitted<Scope extends Subject | null>(request: FastifyRequest, scope: Scope): Scope {
    const operation = operationOn(scope, request, this.registry.decisionContext)
    const isGlobal = scope === null || scope === GLOBAL
    if (!isGlobal) request.rights.require(operation, scope)
    // Every subject inherits the global settings, so reading them requires permission on any one subject.
    else if (operation === 'read') request.rights.requireAny(operation)
    else request.rights.requireAll(operation)
    return scope
  }

  async #withParsedSchema<Result>(version: SchemaVersion, use: (schema: ParsedSchema) => Result): Promise<Result> {
    await this.loadFormatOf(version)
    return this.registry.withDecisionContext(({ schemas, view, results }) =>
      use(schemas.parseStored(view, version.subject, version.content, results)),
    )
  }
}

function isWanted({ tags }: SchemaTags, wanted: readonly string[]): boolean {
  return wanted.includes('*') || tags.some((tag) => wanted.includes(tag))
}

export function queryOf(request: FastifyRequest): Query {
  return request.query as Query
}

export function paramsOf(request: FastifyRequest): Readonly<Record<string, string | undefined>> {
  return request.params as Readonly<Record<string, string | undefined>>
}

export function contextIn(request: FastifyRequest): string {
  const { context } = paramsOf(request)
  if (context === undefined) return DEFAULT_CONTEXT
  const found = toContext(context)
  if (found === undefined) throw new RegistryError('invalid_context', `Context name can't contain ':': ${context}`)
  return found
}

/** Reads `deleted` and `deletedOnly` from the query. `deletedOnly` takes precedence. */
export function versionFilterIn(query: Query): 'live' | 'all' | 'deleted' {
  if (booleanParameter(query, 'deletedOnly')) return 'deleted'
  return booleanParameter(query, 'deleted') ? 'all' : 'live'
}
