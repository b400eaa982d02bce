/** The server sent bytes that do not follow the protocol. Retrying does not help. */
export class ReplicationProtocolError extends Error {
  override readonly name = 'ReplicationProtocolError'
}

/** Creates the errors of a `BinaryReader` that reads this message. */
export function replicationFault(message: string): (reason: string) => Error {
  return (reason) => new ReplicationProtocolError(`the ${message} ${reason}`)
}
