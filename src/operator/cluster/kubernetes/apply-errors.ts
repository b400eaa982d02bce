import { ApiError } from '../../../clients/kubernetes/kubernetes-api.ts'

/** What the API server says of an apply whose object was replaced, and of one whose object no longer exists. */
const OTHER_UID = /is invalid: metadata\.uid: |: uid mismatch: /

/** The object was deleted, or replaced by another one with its name. */
export function isGone({ status, message }: ApiError): boolean {
  return status === 404 || OTHER_UID.test(message)
}

/** The object has changed since it was read. */
export function isOutdated(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'Conflict'
}
