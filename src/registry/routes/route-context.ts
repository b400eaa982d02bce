import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { OffloadableSchema } from '../../compatibility-worker/offloadable-schema.ts'
import { contextOf, DEFAULT_CONTEXT } from '../../formats/qualified-subject.ts'
import type { SchemaReference } from '../../formats/references.ts'
import type { SchemaTags } from '../../formats/tags.ts'
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
import { type WriteErrorMessages, withMissingRight } from '../model/write-error-messages.ts'
import type { Registry } from '../registry.ts'
import type { RegistryValues } from '../settings.ts'
import type { RegistryView } from '../store/registry-view.ts'
import { operationOn } from './acl-operations.ts'
import type { PageLimits } from './query-parameters.ts'
import type { SchemaBody } from './request-bodies.ts'
import type { ResponseProfile, SchemaResponseOptions } from './schema-response.ts'

/** A write request: the decision to make, and how to build the response body from its answer. */
export type Write<Answer, Body = Answer> = {
  readonly operation: WriteErrorMessages
  readonly decide: (context: DecisionContext) => Decision<Answer> | Promise<Decision<Answer>>
  /** Builds the response body. */
  readonly answer: (written: Answer) => Body | Promise<Body>
}

export type SchemaQuery = {
  readonly format?: string | undefined
  readonly findTags?: readonly string[]
  readonly referenceFormat?: string | undefined
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

  /** A subject that the query names, with its alias resolved; without a name, the context of the path. */
  queriedSubject(request: FastifyRequest, named: string | undefined): Subject | undefined {
    const context = contextIn(request)
    if (named !== undefined && named !== '') return this.resolveAlias(toSubject(named, context))
    return contextSubject(context) ?? undefined
  }

  /** The subject prefix of a list request, within the path's context. `defaultPrefix` applies outside a context. */
  prefix(request: FastifyRequest, named: string | undefined, defaultPrefix: string): string {
    const context = contextIn(request)
    return context === DEFAULT_CONTEXT ? (named ?? defaultPrefix) : toSubject(named ?? '', context)
  }

  /**
   * The options of a schema response: `format` (ignored if the schema type does not support it), `findTags` and
   * `referenceFormat`. With a `format`, throws a 403 error if the principal may not read a referenced subject. A promise only if
   * the schema has to be parsed.
   */
  responseOptions(
    request: FastifyRequest,
    version: SchemaVersion,
    query: SchemaQuery,
  ): SchemaResponseOptions | Promise<SchemaResponseOptions> {
    const { format, findTags, referenceFormat } = query
    if (format || findTags?.length) return this.#parsedResponseOptions(request, version, query)
    return { profile: this.profile, qualified: isQualified(referenceFormat) }
  }

  async #parsedResponseOptions(
    request: FastifyRequest,
    version: SchemaVersion,
    { format, findTags: wanted = [], referenceFormat }: SchemaQuery,
  ): Promise<SchemaResponseOptions> {
    // Other formats can include the text of referenced schemas.
    if (format) this.checkReferences(request, version.subject, version.content.references)
    const formatted = format ? await this.#withParsedSchema(version, (schema) => schema.formatted(format)) : undefined
    const tags = wanted.length > 0 ? await this.#withParsedSchema(version, (schema) => schema.tags()) : undefined
    return {
      profile: this.profile,
      qualified: isQualified(referenceFormat),
      ...(formatted === undefined ? {} : { text: formatted }),
      ...(tags === undefined ? {} : { tags: tags.filter((one) => isWanted(one, wanted)) }),
    }
  }

  /**
   * Handles a write request: on this instance if it is the leader, otherwise by forwarding it to the leader. A
   * forwarded request is answered after this instance has read what the leader wrote.
   */
  async write<Answer, Body>(
    request: FastifyRequest,
    reply: FastifyReply,
    { operation, decide, answer }: Write<Answer, Body>,
  ): Promise<Body | FastifyReply> {
    return this.onLeader(request, reply, operation, async () => answer(await this.registry.write(decide, operation)))
  }

  /** Runs `act` if this instance is the leader, otherwise forwards the request, as `write` does. */
  async onLeader<Body>(
    request: FastifyRequest,
    reply: FastifyReply,
    operation: WriteErrorMessages,
    act: () => Promise<Body>,
  ): Promise<Body | FastifyReply> {
    const { registry } = this
    const { leadership } = registry
    registry.checkStore()
    if (leadership.writer()) return act()
    const {
      status,
      type,
      text: body,
    } = await this.#forwarder.forward(
      leadership.leaderUrl(),
      request,
      withMissingRight(operation, leadership.problem()),
    )
    if (status < 300) await registry.refresh(operation)
    return reply
      .code(status)
      .type(type ?? request.responseType)
      .send(body === '' ? undefined : body)
  }

  /** Checks access to the subjects that the sent schema references, and its type. A promise only if the type has to be loaded. */
  prepareSchema(request: FastifyRequest, subject: Subject, { schema }: SchemaBody): void | Promise<void> {
    const { formats } = this.registry.decisionContext.schemas
    this.checkReferences(request, subject, schema.references)
    if (!formats.isLoaded(schema.type)) return formats.load(schema.type)
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

  #withParsedSchema<Result>(
    { subject, content }: SchemaVersion,
    use: (schema: OffloadableSchema) => Promise<Result>,
  ): Promise<Result> {
    return this.registry.withDecisionContext(async ({ schemas, view }) =>
      use(await schemas.parse(view, subject, content, 'loose')),
    )
  }
}

function isQualified(referenceFormat: string | undefined): boolean {
  return referenceFormat?.toLowerCase() === 'qualified'
}

function isWanted({ tags }: SchemaTags, wanted: readonly string[]): boolean {
  return wanted.includes('*') || tags.some((tag) => wanted.includes(tag))
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
