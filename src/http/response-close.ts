import type { ServerResponse } from 'node:http'

/** Calls `act` when the response is closed: at once if it already is, because its client has disconnected. */
export function onceClosed(response: ServerResponse, act: () => void): void {
  if (response.closed) act()
  else response.once('close', act)
}
