import { onTestFinished } from 'vitest'
import { type FaultyProxy, openFaultyProxy, type Target } from './faulty-proxy-server.ts'

/** A proxy before `target`, for as long as the test runs. */
export async function startFaultyProxy(target: Target): Promise<FaultyProxy> {
  const proxy = await openFaultyProxy(target)
  onTestFinished(proxy.stop)
  return proxy
}
