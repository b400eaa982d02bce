import type { Found, Part } from './part.ts'
import { run } from './process.ts'

/** How to give a process a separate network namespace and mount namespace. */
export type SandboxAddress = {
  /** Arguments of `unshare`. */
  readonly namespaces: readonly string[]
  /** Whether processes in it can become another user. */
  readonly isPrivileged: boolean
}

/** Linux namespaces, used without a container engine. */
export function sandboxPart(name: string): Part<SandboxAddress> {
  return {
    name,
    version: process.platform,
    async find(): Promise<Found> {
      const { namespaces } = addressOf()
      const isPossible = await unshares(namespaces)
      return isPossible
        ? { how: 'toolchain', detail: `unshare ${namespaces.join(' ')}`, cached: true }
        : { how: 'missing', detail: 'this machine lets nobody make network and mount namespaces (unshare, ip)' }
    },
    start: async () => ({ address: addressOf(), stop: async () => undefined }),
  }
}

function addressOf(): SandboxAddress {
  const isPrivileged = process.getuid?.() === 0
  const namespaces = ['--net', '--mount', '--propagation', 'private']
  return { namespaces: isPrivileged ? namespaces : ['--user', '--map-root-user', ...namespaces], isPrivileged }
}

async function unshares(namespaces: readonly string[]): Promise<boolean> {
  try {
    const args = [...namespaces, 'sh', '-c', 'ip link set lo up && mount -t tmpfs none /tmp']
    return (await run({ file: 'unshare', args, directory: '.' })).code === 0
  } catch {
    return false
  }
}
