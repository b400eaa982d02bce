import { RetriableError } from '../../../sdk/index.ts'

/**
 * Delivers the requests of each lane one after the other, and the lanes at the same time. A permanent error of one lane stops the others
 * after their current requests. Resolves to the errors, at most one of each lane.
 */
export async function deliverLanes<Item, Request>(
  lanes: readonly Item[],
  requestsOf: (lane: Item) => Iterable<Request>,
  deliver: (request: Request) => Promise<void>,
): Promise<readonly Error[]> {
  let isStopped = false
  const deliverLane = async (lane: Item) => {
    try {
      for (const request of requestsOf(lane)) {
        if (isStopped) return
        await deliver(request)
      }
    } catch (error) {
      if (!(error instanceof RetriableError)) isStopped = true
      throw error
    }
  }
  const outcomes = await Promise.allSettled(lanes.map(deliverLane))
  return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []))
}
