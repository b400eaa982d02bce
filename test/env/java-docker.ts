import type { ContainerRuntimeClient, GenericContainer } from 'testcontainers'
import type { JavaRun, JavaWay } from './java.ts'

/** The image has all bundles. */
const imageName = (version: string) => `apache/kafka:${version}`
const CLASSPATH = '/opt/kafka/libs/*'

/**
 * Runs Java programs in containers, using testcontainers. They share the network of the host and the directory of the
 * run, so addresses and paths are the same as for a process on this machine.
 */
export const javaInDocker: JavaWay = {
  async find(_, version) {
    const engine = await findEngine()
    if (engine === undefined) return { how: 'missing', detail: 'no Docker engine answers' }
    return { how: 'docker', detail: imageName(version), cached: await hasImage(engine, version) }
  },
  async prepare(_, version) {
    const engine = await findEngine()
    if (engine === undefined) throw new Error('no Docker engine answers')
    if (await hasImage(engine, version)) return
    const { ImageName } = await testcontainers()
    await engine.image.pull(ImageName.fromString(imageName(version)))
  },
  async start(java) {
    const container = await (await containerOf(java)).start()
    let ended: Promise<unknown> | undefined
    const end = async (graceMs: number) => {
      ended ??= container.stop({ timeout: graceMs })
      await ended
      return null
    }
    const kill = async () => void (await end(0))
    const inEngine = async () => (await findEngine())!.container.getById(container.getId())
    return {
      pid: undefined,
      hasExited: () => ended !== undefined,
      end,
      kill,
      stop: kill,
      freeze: async () => void (await (await inEngine()).pause()),
      thaw: async () => void (await (await inEngine()).unpause()),
    }
  },
  async run(java) {
    const { Wait } = await testcontainers()
    let printed = ''
    const container = await (await containerOf(java))
      .withLogConsumer((stream) => {
        stream.on('data', (chunk: Buffer) => {
          printed += chunk.toString()
        })
      })
      // Rejects if the program fails.
      .withWaitStrategy(Wait.forOneShotStartup())
      .start()
    await container.stop()
    return { code: 0, stdout: printed, stderr: printed }
  },
}

let engine: Promise<ContainerRuntimeClient | undefined> | undefined

/** Searched once. testcontainers knows all usual socket paths of container engines. */
function findEngine(): Promise<ContainerRuntimeClient | undefined> {
  engine ??= testcontainers()
    .then(({ getContainerRuntimeClient }) => getContainerRuntimeClient())
    .catch(() => undefined)
  return engine
}

async function hasImage(client: ContainerRuntimeClient, version: string): Promise<boolean> {
  const { ImageName } = await testcontainers()
  return client.image.exists(ImageName.fromString(imageName(version)))
}

async function containerOf(java: JavaRun): Promise<GenericContainer> {
  const { version, main, args, jvm, directory, moreClasspath } = java
  const classpath = moreClasspath ? `${CLASSPATH}:${moreClasspath}` : CLASSPATH
  const { GenericContainer } = await testcontainers()
  return new GenericContainer(imageName(version))
    .withNetworkMode('host')
    .withUser(`${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`)
    .withBindMounts([{ source: directory, target: directory }])
    .withWorkingDir(directory)
    .withEntrypoint(['java'])
    .withCommand([...jvm, '-cp', classpath, main, ...args])
}

/** Loaded on demand, because it takes a third of a second. */
function testcontainers() {
  return import('testcontainers')
}
