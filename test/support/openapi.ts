import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { openApiDocument } from '../../src/registry/openapi/document.ts'

type Responses = Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Responses }>>>>
}

const document = openApiDocument('0.0.0') as unknown as Document
const ajv = new Ajv2020({ strict: false, allErrors: true }).addSchema(document as object, 'openapi')
const validators = new Map<string, ValidateFunction>()
const PATTERNS = Object.keys(document.paths)
  // The more is written out, the better it fits.
  .sort((a, b) => a.split('{').length - b.split('{').length)
  .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\./g, '\\.').replace(/\{\w+\}/g, '[^/]*')}/?$`) }))

/** `METHOD /path/{parameter}` of every operation. */
export const operations: readonly string[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
)

/** Throws when an answer is not what the registry's document says of it. A path that is not in it has to be refused. */
export function checkAnswer(method: string, url: string, status: number, body: unknown): void {
  // As `fetch` sends it.
  const path = new URL(`http://registry${url}`).pathname
  const known = PATTERNS.find((one) => one.pattern.test(path) && document.paths[one.path]?.[method.toLowerCase()])
  const what = `${method} ${url.slice(0, 200)} answered ${status}`
  if (!known) {
    if (status < 400) throw new Error(`${what}, and is not in the document`)
    check('#/components/schemas/Error', body, what)
    return
  }
  const responses = document.paths[known.path]?.[method.toLowerCase()]?.responses ?? {}
  const stated = responses[status] ? String(status) : 'default'
  if (stated === 'default' && status < 400) throw new Error(`${what}, which is not in the document`)
  const type = Object.keys(responses[stated]?.content ?? {})[0]
  if (type === undefined) {
    if (body !== undefined) throw new Error(`${what} with a body, and should have none`)
    return
  }
  const pointer = ['paths', known.path, method.toLowerCase(), 'responses', stated, 'content', type, 'schema']
  check(`#/${pointer.map(escaped).join('/')}`, body, what)
}

function check(pointer: string, body: unknown, what: string): void {
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: `openapi${pointer}` })
  validators.set(pointer, validate)
  if (!validate(body)) {
    throw new Error(`${what} with ${JSON.stringify(body)?.slice(0, 500)}: ${ajv.errorsText(validate.errors)}`)
  }
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}
