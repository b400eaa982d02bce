import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ParsedSchema } from '../../formats/format.ts'
import type { SchemaTags } from '../../formats/tags.ts'
import type { Decision, Grounds } from '../decision.ts'
import type { Facts } from '../examination/facts.ts'
import { RegistryError } from '../failure.ts'
import type { Forwarder } from '../forward.ts'
import type { Operation } from '../operation.ts'
import type { Registry } from '../registry.ts'
import type { SchemaVersion } from '../schema.ts'
import type { RegistryValues } from '../settings.ts'
import type { RegistryView } from '../store/state.ts'
import {
  checkScope,
  checkSubject,
  contextOf,
  contextSubject,
  DEFAULT_CONTEXT,
  type Subject,
  toContext,
  toSubject,
} from '../subject.ts'
import type { AnswerOptions, Profile } from './answer.ts'
import { flag, formatIn, type Limits, parseSchemaBody, type Query, type SchemaBody, text, texts } from './request.ts'

/** A write: what is decided, and how the answer is told. */
export type Write<Answer> = {
  readonly operation: Operation
  readonly decide: (grounds: Grounds) => Decision<Answer>
  /** Default: as it is. */
  readonly answer?: (written: Answer) => unknown
  /** What the request knows already. */
  readonly facts?: Facts
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
    return this.registry.grounds.view
  }

  /** Says of a request that its answer tells of the state as it is now, and of nothing else. */
  tellsState(request: FastifyRequest): void {
    request.revision = this.view.revision
  }

  /** Marks an answer as one of the state as it is now. True: who asks has had it already. */
  isKnown({ headers }: FastifyRequest, reply: FastifyReply): boolean {
    const mark = `"${this.#instance}-${this.view.revision}"`
    reply.header('etag', mark)
    // A proxy that compresses makes it a weak one.
    return headers['if-none-match']?.replace(/^W\//, '') === mark
  }

  get profile(): Profile {
    return this.settings['weir.response.profile']
  }

  limits(kind: 'schema' | 'subject' | 'subject.version' | 'context'): Limits {
    return {
      default: this.settings[`${kind}.search.default.limit`],
      max: this.settings[`${kind}.search.max.limit`],
    }
  }

  /** The subject of a path: in the path's context, and what it is an alias of. Throws `invalid_subject`. */
  subject(request: FastifyRequest): Subject {
    return this.target(this.unaliased(request))
  }

  /** The subject as it was named. */
  unaliased(request: FastifyRequest): Subject {
    const { subject = '' } = paramsOf(request)
    return checkSubject(toSubject(subject, contextIn(request)), {
      rejectEmpty: this.settings['schema.reject.empty.subject'],
    })
  }

  /** One step of alias, never two. */
  target(subject: Subject): Subject {
    const alias = this.view.config(subject)?.alias
    return alias === undefined || alias === '' ? subject : toSubject(alias, contextOf(subject))
  }

  /** What `/config` and `/mode` are about: a subject, a context, or everything (null). */
  scope(request: FastifyRequest): Subject | null {
    const { subject } = paramsOf(request)
    const context = contextIn(request)
    if (subject === undefined) return contextSubject(context)
    return checkScope(toSubject(subject, context))
  }

  /** The subject that a query names; a context in the path stands for itself. */
  queriedSubject(request: FastifyRequest): Subject | undefined {
    const named = text(queryOf(request), 'subject')
    const context = contextIn(request)
    if (named !== undefined && named !== '') return this.target(toSubject(named, context))
    return contextSubject(context) ?? undefined
  }

  /** The prefix that a list is narrowed to, within the path's context. */
  prefix(request: FastifyRequest, otherwise: string): string {
    const context = contextIn(request)
    const named = text(queryOf(request), 'subjectPrefix')
    return context === DEFAULT_CONTEXT ? (named ?? otherwise) : toSubject(named ?? '', context)
  }

  /** How a schema is written: in the form that was asked for when its format knows that form, with tags if asked for. */
  async written(version: SchemaVersion, query: Query): Promise<AnswerOptions> {
    const format = formatIn(query)
    const wanted = texts(query, 'findTags').flatMap((words) => words.split(','))
    const formatted = format ? await this.#ask(version, (schema) => schema.formatted(format)) : undefined
    const tags = wanted.length > 0 ? await this.#ask(version, (schema) => schema.tags()) : undefined
    return {
      profile: this.profile,
      qualified: text(query, 'referenceFormat')?.toLowerCase() === 'qualified',
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
    { operation, decide, answer = (written) => written, facts }: Write<Answer>,
  ): Promise<unknown> {
    const { registry } = this
    const { leadership } = registry
    if (leadership.pen()) return answer(await registry.write(decide, operation, facts))
    const { status, type, text: body } = await this.#forwarder.ask(leadership.leaderUrl(), request, operation)
    if (status < 300) await registry.refresh()
    return reply
      .code(status)
      .type(type ?? request.answerType)
      .send(body === '' ? undefined : body)
  }

  /** The schema of a body, ready to be parsed. */
  async sent(request: FastifyRequest): Promise<SchemaBody> {
    const body = parseSchemaBody(request.body)
    await this.registry.grounds.schemas.formats.load(body.schema.type)
    return body
  }

  /** Has to be awaited before a version's schema is parsed. */
  loadFormatOf({ content }: SchemaVersion): Promise<void> {
    return this.registry.grounds.schemas.formats.load(content.type)
  }

  async #ask<Answer>(version: SchemaVersion, question: (schema: ParsedSchema) => Answer): Promise<Answer> {
    await this.loadFormatOf(version)
    return this.registry.think(({ schemas, view, facts }) =>
      question(schemas.stored(view, version.subject, version.content, facts)),
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
export function whichIn(query: Query): 'live' | 'all' | 'deleted' {
  if (flag(query, 'deletedOnly')) return 'deleted'
  return flag(query, 'deleted') ? 'all' : 'live'
}
