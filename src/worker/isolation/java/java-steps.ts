import type { ConnectorChains } from '../../../java/connector-chains.ts'
import type { JavaModule } from '../../../java/java-module.ts'
import { RecordChain, type RecordChainOptions } from '../../../java/record-chain.ts'
import type { RemoteChain, RemoteChainOptions, RemotePlugins } from '../../tasks/remote-step.ts'

/** The Java converters, transforms and predicates of the tasks in this thread. */
export class JavaSteps implements RemotePlugins {
  readonly #modules: ReadonlyMap<string, JavaModule>

  readonly #chains: ConnectorChains

  /** `chains` receives those beside a Java connector. */
  constructor(modules: readonly JavaModule[], chains: ConnectorChains) {
    this.#chains = chains
    this.#modules = new Map(modules.map((module) => [module.location, module]))
  }

  isRemote(location: string | undefined): location is string {
    return location !== undefined && this.#modules.has(location)
  }

  async open({
    host,
    name,
    isSink,
    isBesideConnector,
    plugins,
    errors,
    signal,
  }: RemoteChainOptions): Promise<RemoteChain> {
    const module = this.#modules.get(host)
    if (module === undefined) throw new Error(`${host} is no location of Java plugins`)
    const options: RecordChainOptions = {
      name,
      isSink,
      steps: plugins.map(({ role, isConditional, isNegated, class: className, version, config, location: own }) => {
        const isInHost = module.plugins.some((plugin) => plugin.class === className && plugin.version === version)
        // The same plugin in the location of the connector shares its classes.
        const location = isInHost ? host : own
        return { role, location, class: className, config, isConditional, isNegated }
      }),
      retryTimeoutMs: errors.retryTimeoutMs === Number.POSITIVE_INFINITY ? -1 : errors.retryTimeoutMs,
      retryDelayMsMax: errors.retryDelayMsMax,
    }
    const chain = isBesideConnector
      ? this.#chains.open(options)
      : await RecordChain.open(module.address, options, signal)
    signal.addEventListener('abort', () => chain.interrupt(), { once: true })
    return chain
  }
}
