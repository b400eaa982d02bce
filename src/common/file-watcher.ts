import { watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Logger } from './logging/logger.ts'

export type WatchFilesOptions<Content> = {
  readonly files: readonly string[]
  /** Throws if the files are invalid. */
  readonly read: () => Content
  readonly use: (content: Content) => void
  readonly logger: Logger | undefined
}

/**
 * Reloads files when one of them changes. If they are invalid, the error is logged and the previous content stays.
 * Watches folders instead of files, because editors and mounted Secrets replace files.
 */
export function watchFiles<Content>({ files, read, use, logger }: WatchFilesOptions<Content>): { close(): void } {
  const reload = () => {
    try {
      use(read())
      logger?.info({ files }, 'changed files were reloaded')
    } catch (error) {
      logger?.error({ err: error, files }, 'changed files are invalid: the previous content stays in use')
    }
  }
  const watchers = [...new Set(files.map(dirname))].map((folder) => {
    const names = files.filter((file) => dirname(file) === folder).map((file) => basename(file))
    const watcher = watch(folder, (_, changed) => {
      // A mounted Secret is updated through the symbolic link `..data`.
      if (changed === null || names.includes(changed) || changed.startsWith('..')) reload()
    })
    return watcher.on('error', (error) =>
      logger?.error({ err: error, folder }, 'the folder is no longer watched: restart the program to apply changes'),
    )
  })
  return {
    close: () => {
      for (const watcher of watchers) watcher.close()
    },
  }
}

/** The current valid content of files. Throws if the files are invalid at the start. `onChange` is called with each later content. */
export function watchContent<Content>({
  files,
  read,
  logger,
  onChange = () => {},
}: Omit<WatchFilesOptions<Content>, 'use'> & {
  readonly onChange?: (content: Content) => void
}): WatchedContent<Content> {
  let current = read()
  const use = (content: Content) => {
    current = content
    onChange(content)
  }
  const following = watchFiles({ files, read, use, logger })
  return { current: () => current, close: following.close }
}

export type WatchedContent<Content> = { readonly current: () => Content; close(): void }
