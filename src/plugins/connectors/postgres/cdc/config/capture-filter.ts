import type { JavaPattern } from '../../../../../java-compat/java-regex.ts'
import { isSelected, TableFilter } from '../../../cdc/config/table-filter.ts'

export type CaptureFilterConfig = Readonly<
  Record<
    | 'schema.include.list'
    | 'schema.exclude.list'
    | 'table.include.list'
    | 'table.exclude.list'
    | 'message.prefix.include.list'
    | 'message.prefix.exclude.list',
    readonly JavaPattern[]
  >
> & { readonly 'signal.data.collection'?: string | undefined }

/** Decides which tables and logical messages are captured. */
export class CaptureFilter extends TableFilter {
  readonly #config: CaptureFilterConfig

  constructor(config: CaptureFilterConfig) {
    super({
      schemas: { include: config['schema.include.list'], exclude: config['schema.exclude.list'] },
      tables: { include: config['table.include.list'], exclude: config['table.exclude.list'] },
      isSystemSchema: (schema) => /^pg_|^information_schema$/.test(schema),
      signalTable: config['signal.data.collection'],
    })
    this.#config = config
  }

  includesMessage(prefix: string): boolean {
    const { 'message.prefix.include.list': include, 'message.prefix.exclude.list': exclude } = this.#config
    return isSelected(prefix, { include, exclude })
  }
}
