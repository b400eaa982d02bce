import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'

/** A thread or process finds compiled code where this process does, but only if its environment says so. */
export function withCompileCache(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = getCompileCacheDir()
  return own === undefined ? env : { ...env, NODE_COMPILE_CACHE: dirname(own) }
}
