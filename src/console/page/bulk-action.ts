/** An action on several connectors. `done` and `question` complete sentences such as `Paused 2 connectors`. */
export type BulkAction = {
  readonly name: string
  readonly done: string
  readonly isDangerous: boolean
  /** What the action changes or destroys, besides what its name says. */
  readonly consequence: string
  readonly method: 'PUT' | 'POST' | 'DELETE'
  /** After the path of the connector. */
  readonly suffix: string
}

export const BULK_ACTIONS: readonly BulkAction[] = [
  action('Pause', 'Paused', 'PUT', '/pause', 'They keep their tasks and process no records.'),
  action('Resume', 'Resumed', 'PUT', '/resume', ''),
  action('Restart', 'Restarted', 'POST', '/restart?includeTasks=true', 'Their tasks are restarted, too.'),
  {
    ...action('Delete', 'Deleted', 'DELETE', '', ''),
    isDangerous: true,
    consequence: 'Their configurations are lost. Kafka Connect keeps their offsets for connectors of the same names.',
  },
]

function action(
  name: string,
  done: string,
  method: BulkAction['method'],
  suffix: string,
  consequence: string,
): BulkAction {
  return { name, done, method, suffix, consequence, isDangerous: false }
}

/** The question names all of them, so there is a limit. */
export const SELECTED_MAX = 500
/** A worker performs changes one after the other. */
const CONCURRENCY = 4

export type BulkFailure = { readonly connector: string; readonly reason: string }

/** Performs an action on each connector, whatever happens to the others, and returns those for which it failed. */
export async function performOnEach(
  connectors: readonly string[],
  perform: (connector: string) => Promise<unknown>,
): Promise<readonly BulkFailure[]> {
  const failures: BulkFailure[] = []
  const left = connectors.values()
  const performNext = async () => {
    for (const connector of left) {
      try {
        await perform(connector)
      } catch (error) {
        failures.push({ connector, reason: error instanceof Error ? error.message : String(error) })
      }
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, performNext))
  return failures.toSorted((a, b) => connectors.indexOf(a.connector) - connectors.indexOf(b.connector))
}
