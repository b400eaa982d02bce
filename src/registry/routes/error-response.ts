import { InvalidRequestError } from '../../http/endpoint.ts'
import type { ErrorResponse, ErrorWire } from '../../http/http-error.ts'
import { RegistryError, type RegistryErrorCode } from '../model/registry-error.ts'

/** The error codes of the REST API. The HTTP status is the first three digits of the code, unless it is given. */
const NUMBERS: Readonly<Record<RegistryErrorCode, number | readonly [errorCode: number, status: number]>> = {
  subject_not_found: 40401,
  version_not_found: 40402,
  schema_not_found: 40403,
  subject_soft_deleted: 40404,
  subject_not_soft_deleted: 40405,
  version_soft_deleted: 40406,
  version_not_soft_deleted: 40407,
  subject_config_not_found: 40408,
  subject_mode_not_found: 40409,
  incompatible_schema: 40901,
  invalid_schema: 42201,
  invalid_version: 42202,
  invalid_compatibility: 42203,
  invalid_mode: 42204,
  not_permitted: 42205,
  reference_exists: 42206,
  invalid_subject: 42208,
  schema_too_large: 42209,
  invalid_rule_set: 42210,
  context_not_empty: 42211,
  association_not_found: 40410,
  association_exists: 40903,
  association_for_subject_exists: 40904,
  strong_association_exists: 40905,
  no_active_version: 40907,
  association_frozen: 40908,
  invalid_association: 42212,
  invalid_context: [400, 400],
  invalid_body: [400, 400],
  missing_body: [422, 422],
  no_such_resource: [404, 404],
  too_many_writes: [429, 429],
  too_many_checks: [429, 429],
  store_failed: 50001,
  store_timeout: 50002,
  // Confluent's error code for a store failure. The status 503 makes a load balancer choose another instance.
  store_unreadable: [50001, 503],
  forward_failed: 50003,
  // Confluent's registry responds with 500. A 503 makes clients and load balancers retry.
  leader_unknown: [50004, 503],
  key_not_found: 40470,
  key_not_soft_deleted: 40471,
  key_soft_deleted: 40472,
  key_exists: 40971,
  too_many_keys: 40972,
  invalid_key: 42271,
  key_reference_exists: 42272,
  key_unreadable: 50001,
  kek_not_usable: [500, 500],
  dek_generation_failed: 50070,
}

export const REGISTRY_ERROR_CODES = Object.fromEntries(
  Object.entries(NUMBERS).map(([code, numbers]) => {
    const [errorCode, status] = typeof numbers === 'number' ? [numbers, Math.floor(numbers / 100)] : numbers
    return [code, { errorCode, status }]
  }),
) as Readonly<Record<RegistryErrorCode, ErrorWire>>

/** The errors of an endpoint that registers a schema. */
export const REGISTRATION_ERRORS = [
  'incompatible_schema',
  'invalid_schema',
  'invalid_rule_set',
  'invalid_subject',
  'not_permitted',
  'schema_too_large',
] as const satisfies readonly RegistryErrorCode[]

/** The errors of an endpoint that changes associations, which can register schemas. */
export const ASSOCIATION_ERRORS = [
  ...REGISTRATION_ERRORS,
  'no_such_resource',
  'association_not_found',
  'association_exists',
  'association_for_subject_exists',
  'strong_association_exists',
  'no_active_version',
  'association_frozen',
  'reference_exists',
  'invalid_association',
] as const satisfies readonly RegistryErrorCode[]

/** Converts an error of the registry or an invalid request to an HTTP response. Undefined for other errors, which `src/http` handles. */
export function registryErrorResponse(thrown: unknown, profile: '7' | '8'): ErrorResponse | undefined {
  const error = thrown instanceof InvalidRequestError ? invalidBody(thrown) : thrown
  if (!(error instanceof RegistryError)) return undefined
  const { errorCode, status } = REGISTRY_ERROR_CODES[error.code]
  // Clients of version 7 compare this code with the HTTP status.
  const shown = error.code === 'incompatible_schema' && profile === '7' ? 409 : errorCode
  return { status, body: { error_code: shown, message: error.message } }
}

function invalidBody({ value, issues: [issue] }: InvalidRequestError): RegistryError {
  if (value === null) return new RegistryError('missing_body', 'The request body may not be empty')
  const where = issue && issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''
  return new RegistryError('invalid_body', `Unrecognized request body: ${where}${issue?.message}`)
}
