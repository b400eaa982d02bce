import { isNotAllowed, RetriableError } from '../../../sdk/index.ts'

type ServiceError = Error & {
  readonly $metadata?: { readonly httpStatusCode?: number }
  readonly $retryable?: unknown
}

/** Errors that waiting does not mend, with the remedy. */
const REMEDIES: Readonly<Record<string, string>> = {
  AccessDenied: 'permit s3:PutObject, s3:AbortMultipartUpload and, with tags, s3:PutObjectTagging for the prefix',
  AuthorizationHeaderMalformed: 'set the region to that of the bucket',
  InvalidAccessKeyId: 'check the credentials',
  NoSuchBucket: 'create the bucket, or correct its name',
  PermanentRedirect: 'set the region to that of the bucket',
  SignatureDoesNotMatch: 'check the secret key and the clock of this machine',
  RequestTimeTooSkewed: 'correct the clock of this machine',
}
/** Credentials that may be renewed. */
const RENEWED = new Set(['ExpiredToken', 'ExpiredTokenException', 'TokenRefreshRequired', 'CredentialsProviderError'])

/** The error of a request with what was tried and what helps: retriable unless a person must act. */
export function s3Error(error: unknown, operation: string): Error {
  if (!(error instanceof Error) || isNotAllowed(error)) return error as Error
  const { name, message, $metadata } = error as ServiceError
  const status = $metadata?.httpStatusCode
  const text = `${operation}: ${name === 'Error' ? '' : `${name}: `}${message}`
  const remedy = REMEDIES[name]
  const isRejected = status !== undefined && status >= 300 && status < 500 && ![408, 409, 425, 429].includes(status)
  if (RENEWED.has(name) || !(isRejected || remedy !== undefined)) return new RetriableError(text, { cause: error })
  return new Error(
    `${text}${remedy === undefined ? '' : `: ${remedy}`}. No record is lost: restart the task afterwards`,
    {
      cause: error,
    },
  )
}
