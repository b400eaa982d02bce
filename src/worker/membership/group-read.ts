import { messageOf } from '../../common/errors.ts'
import type { ForwardableRequest, PeerClient } from './peer-client.ts'
import type { WorkerGroup } from './worker-group.ts'

/** What the workers of a group respond to one request. */
export type GroupResponse<Part> = {
  readonly workers: readonly Part[]
  /** Workers that did not respond, with the reason. */
  readonly missing: readonly string[]
}

export type GroupReadOptions = {
  readonly group: () => Pick<WorkerGroup, 'isLeader' | 'leaderUrl' | 'otherUrls'> | undefined
  readonly peers: Pick<PeerClient, 'forward'>
}

/** A worker that does not respond must not delay what the others know. */
const PEER_TIMEOUT_MS = 3_000

/**
 * Collects what each worker of the group knows. `own` is what this worker knows. Only the leader knows the others, so other
 * workers pass the request on to it, with the credentials of the user. The query parameter `forward` is that of Kafka Connect.
 */
export async function readFromGroup<Part>(
  { group, peers }: GroupReadOptions,
  request: ForwardableRequest,
  forward: string | undefined,
  own: Part,
): Promise<GroupResponse<Part>> {
  const current = group()
  if (forward === 'false' || current === undefined) return { workers: [own], missing: [] }
  if (current.isLeader) {
    const others = await Promise.all(current.otherUrls.map((url) => askPeer<Part>(peers, url, request, true)))
    return merged([{ workers: [own], missing: [] }, ...others])
  }
  const { leaderUrl } = current
  if (forward === 'true' || leaderUrl === undefined)
    return { workers: [own], missing: ['the other workers: the leader of the group is not known at the moment'] }
  const all = await askPeer<Part>(peers, leaderUrl, request, false)
  return all.workers.length > 0 ? all : merged([{ workers: [own], missing: [] }, all])
}

async function askPeer<Part>(
  peers: GroupReadOptions['peers'],
  url: string,
  { method, url: path, headers }: ForwardableRequest,
  isLastHop: boolean,
): Promise<GroupResponse<Part>> {
  const { host } = new URL(url)
  try {
    const request = { method, url: path, headers, body: undefined }
    const response = await peers.forward(url, request, isLastHop, PEER_TIMEOUT_MS)
    if (response === undefined) return { workers: [], missing: [`${host}: there is no connection to it`] }
    if (response.status !== 200) return { workers: [], missing: [`${host}: HTTP ${response.status}`] }
    return JSON.parse(response.text) as GroupResponse<Part>
  } catch (error) {
    return { workers: [], missing: [`${host}: ${messageOf(error)}`] }
  }
}

function merged<Part>(responses: readonly GroupResponse<Part>[]): GroupResponse<Part> {
  return {
    workers: responses.flatMap(({ workers }) => workers),
    missing: responses.flatMap(({ missing }) => missing),
  }
}
