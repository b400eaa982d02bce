import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'

/**
 * Adds this process's compile cache to the environment of a child process or thread, which does not inherit it
 * otherwise.
 */
export function withCompileCache(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = getCompileCacheDir()
  return own === undefined ? env : { ...env, NODE_COMPILE_CACHE: dirname(own) }
}
