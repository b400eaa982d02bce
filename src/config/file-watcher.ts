import { watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Logger } from './logger.ts'

export type WatchFilesOptions<Content> = {
  readonly files: readonly string[]
  /** Throws when they can't be used. */
  readonly read: () => Content
  readonly use: (content: Content) => void
  readonly logger: Logger | undefined
}

/**
 * Reads files again when one of them changes. Where they can't be used the log says why, and what they said before
 * stays. Folders are watched, not files: editors and mounted secrets replace a file by another of its name.
 */
export function watchFiles<Content>({ files, read, use, logger }: WatchFilesOptions<Content>): { close(): void } {
  const readAgain = () => {
    try {
      use(read())
      logger?.info({ files }, 'changed files were read again')
    } catch (error) {
      logger?.error({ err: error, files }, 'changed files can not be used: what they said before stays')
    }
  }
  const watchers = [...new Set(files.map(dirname))].map((folder) => {
    const names = files.filter((file) => dirname(file) === folder).map((file) => basename(file))
    const watcher = watch(folder, (_, changed) => {
      // A mounted secret changes by a link of its own, `..data`.
      if (changed === null || names.includes(changed) || changed.startsWith('..')) readAgain()
    })
    return watcher.on('error', (error) =>
      logger?.error({ err: error, folder }, 'the folder is not watched any more: what changes in it needs a restart'),
    )
  })
  return {
    close: () => {
      for (const watcher of watchers) watcher.close()
    },
  }
}

/** What files say now, as far as they can be used. Throws when they can't be used to begin with. */
export function watchContent<Content>({
  files,
  read,
  logger,
}: Omit<WatchFilesOptions<Content>, 'use'>): WatchedContent<Content> {
  let content = read()
  const use = (fresh: Content) => {
    content = fresh
  }
  const following = watchFiles({ files, read, use, logger })
  return { current: () => content, close: following.close }
}

export type WatchedContent<Content> = { readonly current: () => Content; close(): void }
