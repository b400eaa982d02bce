import type { JavaModule } from '../../../java/java-module.ts'
import { RecordChain } from '../../../java/record-chain.ts'
import type { RemoteChain, RemoteChainOptions, RemoteSteps } from '../../tasks/pipeline-step.ts'

/** The Java converters, transforms and predicates of the tasks in this thread. */
export class JavaSteps implements RemoteSteps {
  readonly #modules: ReadonlyMap<string, JavaModule>

  constructor(modules: readonly JavaModule[]) {
    this.#modules = new Map(modules.map((module) => [module.location, module]))
  }

  isRemote(location: string | undefined): location is string {
    return location !== undefined && this.#modules.has(location)
  }

  async open({ host, name, isSink, steps, errors, signal }: RemoteChainOptions): Promise<RemoteChain> {
    const module = this.#modules.get(host)
    if (module === undefined) throw new Error(`${host} is no location of Java plugins`)
    const chain = await RecordChain.open(module.address, {
      name,
      isSink,
      steps: steps.map(({ role, isConditional, isNegated, runs }) => {
        const { class: className, version, config } = runs
        const isInHost = module.plugins.some((plugin) => plugin.class === className && plugin.version === version)
        // The same plugin in the location of the connector shares its classes.
        const location = isInHost ? host : runs.location
        return { role, location, class: className, config, isConditional, isNegated }
      }),
      retryTimeoutMs: errors.retryTimeoutMs === Number.POSITIVE_INFINITY ? -1 : errors.retryTimeoutMs,
      retryDelayMsMax: errors.retryDelayMsMax,
    })
    signal.addEventListener('abort', () => chain.interrupt(), { once: true })
    return chain
  }
}
