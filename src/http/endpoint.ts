import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import { z } from 'zod'
import type { AclOperation } from './permissions.ts'

/** What a request needs: nothing, an authenticated user, or the permission for an operation. */
export type Permission = 'public' | 'authenticated' | OperationPermission

export type OperationPermission = {
  readonly operation: AclOperation
  /**
   * The object on which the permission is needed: the one that the path names, `any` or `all` objects. With `any`, the handler
   * filters what it returns, and checks what the body names.
   */
  readonly on:
    | 'connector'
    | 'topic'
    | 'any topic'
    | 'subject'
    | 'scope'
    | 'context'
    | 'kek'
    | 'kek and subject'
    | 'any kek'
    | 'any'
    | 'all'
}

/**
 * The declaration of an endpoint. Its route, validation, authorization, metric and OpenAPI operation follow from it. The
 * names are those of Fastify's route options, with Zod schemas. `params`, `querystring` and `body` reach the handler as
 * their schemas return them; without a schema, they are strings.
 */
type Endpoint<
  Url extends string,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Responses extends ResponseSchemas,
> = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: Url
  /** The summary of the operation in the OpenAPI document. Undefined: the endpoint is not part of the documented API. */
  readonly summary?: string
  readonly permission: Permission
  /** The name of the endpoint in metrics. */
  readonly metric?: string
  readonly params?: Params
  readonly querystring?: Query
  readonly body?: Body
  /** Whether numbers in the body are texts, as they are written. */
  readonly hasWrittenNumbers?: boolean
  /** By status. */
  readonly response: Responses
  /** The program's codes of the errors that this endpoint returns. Any endpoint can also return the errors of HTTP and of the store. */
  readonly errors?: readonly string[]
  readonly handler: (
    request: FastifyRequest<{
      Params: unknown extends z.output<Params> ? PathParams<Url> : z.output<Params>
      Querystring: z.output<Query>
      Body: z.output<Body>
    }>,
    reply: FastifyReply,
  ) => Promise<Result<Responses> | FastifyReply>
}

export type ResponseSchemas = Readonly<Record<number, z.ZodType>>

/** The value of a response body, which may be made of readonly parts. */
export type ResponseBody<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>

type Result<Responses extends ResponseSchemas> = ResponseBody<Responses[keyof Responses & number]>

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T

type PathParams<Url extends string> = { readonly [Name in ParamNames<Url>]: string }

type ParamNames<Url extends string> = Url extends `${string}/:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | ParamNames<`/${More}`>
    : Rest
  : never

/** A response without a body. */
export const noContent = z.undefined()

/** A response that is no JSON. */
export function textResponse(description: string, mediaType: string) {
  return z.string().meta({ description, mediaType })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The parsed body before its validation, to forward it. */
    receivedBody: unknown
  }
  interface FastifyContextConfig {
    permission?: Permission
    /** Name of this endpoint in metrics. */
    metric?: string
    errors?: readonly string[]
    /** Whether numbers in the body are texts, as they are written. */
    hasWrittenNumbers?: boolean
  }
}

/** Adds the route of an endpoint. */
export function addEndpoint<
  const Url extends string,
  Responses extends ResponseSchemas,
  Params extends z.ZodType = z.ZodUnknown,
  Query extends z.ZodType = z.ZodUnknown,
  Body extends z.ZodType = z.ZodUnknown,
>(app: FastifyInstance, endpoint: Endpoint<Url, Params, Query, Body, Responses>): void {
  const { method, url, summary, permission, metric, params, querystring, body, response, errors, handler } = endpoint
  const { hasWrittenNumbers } = endpoint
  app.route({
    method,
    url,
    config: {
      permission,
      ...(metric === undefined ? {} : { metric }),
      ...(errors === undefined ? {} : { errors }),
      ...(hasWrittenNumbers === undefined ? {} : { hasWrittenNumbers }),
    },
    schema: {
      ...(summary === undefined ? { hide: true } : { summary }),
      ...(params && { params }),
      ...(querystring && { querystring }),
      ...(body && { body }),
      response,
    },
    preValidation: (request, _, done) => {
      request.receivedBody = request.body
      done()
    },
    handler: handler as Parameters<FastifyInstance['route']>[0]['handler'],
  })
}

/** A part of a request that its schema rejects. Programs map it to an error of their API. */
export class InvalidRequestError extends Error {
  readonly part: string
  readonly value: unknown
  readonly issues: readonly z.core.$ZodIssue[]

  constructor(part: string, value: unknown, issues: readonly z.core.$ZodIssue[]) {
    super(`${[part, ...(issues[0]?.path ?? [])].join('.')}: ${issues[0]?.message}`)
    this.part = part
    this.value = value
    this.issues = issues
  }
}

/** The compilers of schemas for Fastify's `schemaController`. Fastify's own would load Ajv at every start. */
export const zodCompilers = {
  buildValidator: () => validatorOf,
  // Responses are what the type of the handler says.
  buildSerializer: () => () => (value: unknown) => JSON.stringify(value),
} as unknown as SchemaCompilers

type SchemaCompilers = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>

type Validated = { readonly value: unknown } | { readonly error: Error }

function validatorOf({ schema, httpPart = '' }: { readonly schema: unknown; readonly httpPart?: string }) {
  const validate = (value: unknown): Validated => {
    const parsed = (schema as z.ZodType).safeParse(value)
    if (parsed.success) return { value: parsed.data }
    return { error: new InvalidRequestError(httpPart, value, parsed.error.issues) }
  }
  if (httpPart !== 'querystring') return validate
  // Most requests have no query, and what is absent has the same values each time.
  let absent: Validated | undefined
  return (value: unknown): Validated => {
    for (const _ in value as object) return validate(value)
    absent ??= validate(value)
    return absent
  }
}

/** The permission of the requested endpoint; undefined if no route matches. A route without one is a bug: it is rejected. */
export function permissionOf({
  method,
  routeOptions,
}: Pick<FastifyRequest, 'method' | 'routeOptions'>): Permission | undefined {
  const { url, config } = routeOptions
  if (url === undefined) return undefined
  if (config.permission === undefined) throw new Error(`${method} ${url} has no permission`)
  return config.permission
}

/** The ACL operation of the requested endpoint; undefined if no route matches. Endpoints without permissions are read. */
export function operationOf(request: Pick<FastifyRequest, 'method' | 'routeOptions'>): AclOperation | undefined {
  const permission = permissionOf(request)
  return typeof permission === 'string' ? 'read' : permission?.operation
}
