/** The server sent bytes that do not follow the protocol. Retrying does not help. */
export class ReplicationProtocolError extends Error {
  override readonly name = 'ReplicationProtocolError'
}
