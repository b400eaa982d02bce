import { onTestFinished } from 'vitest'
import { type FaultyProxy, openFaultyProxy, type Target } from './faulty-proxy-server.ts'

/** Starts a proxy in front of `target`. It is stopped at the end of the test. */
export async function startFaultyProxy(target: Target): Promise<FaultyProxy> {
  const proxy = await openFaultyProxy(target)
  onTestFinished(proxy.stop)
  return proxy
}
