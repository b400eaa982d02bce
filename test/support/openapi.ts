import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

type Responses = Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Responses }>>>>
}

/** Checks responses against an OpenAPI document. */
export type ApiChecks = {
  /** `METHOD /path/{parameter}` of every operation. */
  readonly operations: readonly string[]
  /** Throws if a response does not conform to the document, or if a path that it lacks does not return an error. */
  checkAnswer(method: string, url: string, status: number, body: unknown): void
}

export function createResponseChecks(written: object): ApiChecks {
  const document = written as Document
  const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } }).addSchema(
    document as object,
    'openapi',
  )
  const validators = new Map<string, ValidateFunction>()
  const find = matcherOf(document)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  return { operations, checkAnswer }

  function checkAnswer(method: string, url: string, status: number, body: unknown): void {
    const what = `${method} ${url.slice(0, 200)} answered ${status}`
    const path = find(method.toLowerCase(), url)
    if (path !== undefined) checkOperation(path, method.toLowerCase(), status, body, what)
    else if (status < 400) throw new Error(`${what}, and is not in the document`)
    else check('#/components/schemas/Error', body, what)
  }

  function checkOperation(path: string, method: string, status: number, body: unknown, what: string): void {
    const responses = document.paths[path]?.[method]?.responses ?? {}
    const stated = responses[status] && !isErrorOfHttp(status, body) ? String(status) : 'default'
    const isUnstated = stated === 'default' && status < 500 && !isErrorOfHttp(status, body)
    if (isUnstated) throw new Error(`${what}, which is not in the document: ${JSON.stringify(body)}`)
    const type = Object.keys(responses[stated]?.content ?? {})[0]
    if (type !== undefined) {
      const pointer = ['paths', path, method, 'responses', stated, 'content', type, 'schema']
      check(`#/${pointer.map(escaped).join('/')}`, body, what)
    } else if (body !== undefined) throw new Error(`${what} with a body, and should have none`)
  }

  function check(pointer: string, body: unknown, what: string): void {
    const validate = validators.get(pointer) ?? ajv.compile({ $ref: `openapi${pointer}` })
    validators.set(pointer, validate)
    if (!validate(body)) {
      throw new Error(`${what} with ${JSON.stringify(body)?.slice(0, 500)}: ${ajv.errorsText(validate.errors)}`)
    }
  }
}

/** Whether any endpoint can return this error. An endpoint states that what it names does not exist. */
function isErrorOfHttp(status: number, body: unknown): boolean {
  if (status < 400 || status === 404) return false
  return (body as { readonly error_code?: unknown } | undefined)?.error_code === status
}

function matcherOf({ paths }: Document): (method: string, url: string) => string | undefined {
  const patterns = Object.keys(paths)
    // Paths with fewer parameters are more specific, so they are matched first.
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\./g, '\\.').replace(/\{\w+\}/g, '[^/]*')}/?$`) }))
  return (method, url) => {
    // Normalizes the path as an HTTP client does: `/a/..` is never sent.
    const asked = new URL(`http://any${url}`).pathname
    return patterns.find(({ path, pattern }) => pattern.test(asked) && paths[path]?.[method])?.path
  }
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}
