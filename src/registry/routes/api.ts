import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ParsedSchema } from '../../formats/format.ts'
import type { SchemaReference } from '../../formats/references.ts'
import type { SchemaTags } from '../../formats/tags.ts'
import type { Decision, DecisionContext } from '../commands/decision.ts'
import type { WriteOperation } from '../commands/write-operation.ts'
import type { WorkerResults } from '../compatibility-worker/worker-results.ts'
import type { Forwarder } from '../leadership/forwarding.ts'
import { RegistryError } from '../model/registry-error.ts'
import type { SchemaVersion } from '../model/schema.ts'
import {
  checkScope,
  checkSubject,
  contextOf,
  contextSubject,
  DEFAULT_CONTEXT,
  GLOBAL,
  type Subject,
  toContext,
  toSubject,
} from '../model/subject.ts'
import type { Registry } from '../registry.ts'
import type { RegistryValues } from '../settings.ts'
import type { RegistryView } from '../store/state.ts'
import { operationOn } from './operations.ts'
import {
  booleanParameter,
  formatParameter,
  type PageLimits,
  parseSchemaBody,
  type Query,
  type SchemaBody,
  stringParameter,
  stringParameters,
} from './request.ts'
import type { ResponseProfile, SchemaResponseOptions } from './schema-response.ts'

/** A write: what is decided, and how the answer is told. */
export type Write<Answer> = {
  readonly operation: WriteOperation
  readonly decide: (context: DecisionContext) => Decision<Answer>
  /** Default: as it is. */
  readonly answer?: (written: Answer) => unknown
  /** What the request knows already. */
  readonly workerResults?: WorkerResults
}

/** What the routes of every resource share. */
export class Api {
  readonly registry: Registry
  readonly settings: RegistryValues
  readonly #forwarder: Forwarder
  /** Others count their revisions from another beginning. */
  readonly #instance = randomUUID()

  constructor(registry: Registry, settings: RegistryValues, forwarder: Forwarder) {
    this.registry = registry
    this.settings = settings
    this.#forwarder = forwarder
  }

  get view(): RegistryView {
    return this.registry.decisionContext.view
  }

  /** Says of a request that its answer tells of the state as it is now, and of nothing else. */
  markCacheable(request: FastifyRequest): void {
    request.revision = this.view.revision
  }

  /** Marks an answer as one of the state as it is now. True: who asks has had it already. */
  isNotModified({ headers, rights }: FastifyRequest, reply: FastifyReply): boolean {
    // What may be read changes without a change of the state.
    if (!rights.allowsAll('read')) return false
    const mark = `"${this.#instance}-${this.view.revision}"`
    reply.header('etag', mark)
    // A proxy that compresses makes it a weak one.
    return headers['if-none-match']?.replace(/^W\//, '') === mark
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

  /** The subject of a path: in the path's context, and what it is an alias of. Throws `invalid_subject`. */
  subject(request: FastifyRequest): Subject {
    return this.#permitted(request, this.resolveAlias(this.#named(request)))
  }

  /** One step of alias, never two. */
  resolveAlias(subject: Subject): Subject {
    const alias = this.view.config(subject)?.alias
    return alias === undefined || alias === '' ? subject : toSubject(alias, contextOf(subject))
  }

  /** What `/config` and `/mode` are about: a subject, a context, or everything (null). */
  scope(request: FastifyRequest): Subject | null {
    const { subject } = paramsOf(request)
    const context = contextIn(request)
    const scope = subject === undefined ? contextSubject(context) : checkScope(toSubject(subject, context))
    return this.#permitted(request, scope)
  }

  /** The context of a path, to do something with it as a whole. */
  context(request: FastifyRequest): string {
    const context = contextIn(request)
    this.#permitted(request, contextSubject(context))
    return context
  }

  /** Whether a subject may be read: what lists and searches are narrowed to. */
  readable(request: FastifyRequest): (subject: Subject) => boolean {
    const { rights } = request
    return rights.allowsAll('read') ? () => true : (subject) => rights.allows('read', subject)
  }

  /** Whether a request may do with another subject what it does. */
  permits(request: FastifyRequest): (subject: Subject) => boolean {
    return (subject) => request.rights.allows(operationOn(subject, request, this.registry.decisionContext), subject)
  }

  /** Throws a 403 where a schema refers, by however many steps, to what may not be read. */
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

  /** The subject that a query names; a context in the path stands for itself. */
  queriedSubject(request: FastifyRequest): Subject | undefined {
    const named = stringParameter(queryOf(request), 'subject')
    const context = contextIn(request)
    if (named !== undefined && named !== '') return this.resolveAlias(toSubject(named, context))
    return contextSubject(context) ?? undefined
  }

  /** The prefix that a list is narrowed to, within the path's context. */
  prefix(request: FastifyRequest, otherwise: string): string {
    const context = contextIn(request)
    const named = stringParameter(queryOf(request), 'subjectPrefix')
    return context === DEFAULT_CONTEXT ? (named ?? otherwise) : toSubject(named ?? '', context)
  }

  /** How a schema is written: in the form that was asked for when its format knows that form, with tags if asked for. */
  async responseOptions(
    request: FastifyRequest,
    version: SchemaVersion,
    query = queryOf(request),
  ): Promise<SchemaResponseOptions> {
    const format = formatParameter(query)
    // Other forms of a schema may hold what it refers to.
    if (format) this.checkReferences(request, version.subject, version.content.references)
    const wanted = stringParameters(query, 'findTags').flatMap((words) => words.split(','))
    const formatted = format ? await this.#ask(version, (schema) => schema.formatted(format)) : undefined
    const tags = wanted.length > 0 ? await this.#ask(version, (schema) => schema.tags()) : undefined
    return {
      profile: this.profile,
      qualified: stringParameter(query, 'referenceFormat')?.toLowerCase() === 'qualified',
      ...(formatted === undefined ? {} : { text: formatted }),
      ...(tags === undefined ? {} : { tags: tags.filter((one) => isWanted(one, wanted)) }),
    }
  }

  /**
   * Answers a request that writes: here, when this instance leads; else with what the leader answers, once this instance
   * has seen what the leader wrote.
   */
  async write<Answer>(
    request: FastifyRequest,
    reply: FastifyReply,
    { operation, decide, answer = (written) => written, workerResults }: Write<Answer>,
  ): Promise<unknown> {
    return this.onLeader(request, reply, operation, async () =>
      answer(await this.registry.write(decide, operation, workerResults)),
    )
  }

  /** Does `act` when this instance leads; else responds as the leader does, once this instance has what it wrote. */
  async onLeader(
    request: FastifyRequest,
    reply: FastifyReply,
    operation: WriteOperation,
    act: () => Promise<unknown>,
  ): Promise<unknown> {
    const { registry } = this
    const { leadership } = registry
    registry.checkStore()
    if (leadership.writer()) return act()
    const { status, type, text: body } = await this.#forwarder.ask(leadership.leaderUrl(), request, operation)
    if (status < 300) await registry.refresh()
    return reply
      .code(status)
      .type(type ?? request.answerType)
      .send(body === '' ? undefined : body)
  }

  /** The schema of a body, ready to be parsed. */
  async readSchemaBody(request: FastifyRequest, subject: Subject): Promise<SchemaBody> {
    const body = parseSchemaBody(request.body)
    this.checkReferences(request, subject, body.schema.references)
    await this.registry.decisionContext.schemas.formats.load(body.schema.type)
    return body
  }

  /** Has to be awaited before a version's schema is parsed. */
  loadFormatOf({ content }: SchemaVersion): Promise<void> {
    return this.registry.decisionContext.schemas.formats.load(content.type)
  }

  #named(request: FastifyRequest): Subject {
    const { subject = '' } = paramsOf(request)
    return checkSubject(toSubject(subject, contextIn(request)), {
      rejectEmpty: this.settings['schema.reject.empty.subject'],
    })
  }

  /** Throws a 403 where the request may not do what it does with this. */
  #permitted<Scope extends Subject | null>(request: FastifyRequest, scope: Scope): Scope {
    const operation = operationOn(scope, request, this.registry.decisionContext)
    const isGlobal = scope === null || scope === GLOBAL
    if (!isGlobal) request.rights.require(operation, scope)
    // Everything takes over what is set here, and may know it.
    else if (operation === 'read') request.rights.requireAny(operation)
    else request.rights.requireAll(operation)
    return scope
  }

  async #ask<Answer>(version: SchemaVersion, question: (schema: ParsedSchema) => Answer): Promise<Answer> {
    await this.loadFormatOf(version)
    return this.registry.withDecisionContext(({ schemas, view, workerResults }) =>
      question(schemas.stored(view, version.subject, version.content, workerResults)),
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

/** Which versions a list is about. `deletedOnly` wins over `deleted`. */
export function versionFilterIn(query: Query): 'live' | 'all' | 'deleted' {
  if (booleanParameter(query, 'deletedOnly')) return 'deleted'
  return booleanParameter(query, 'deleted') ? 'all' : 'live'
}
