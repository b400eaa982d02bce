import { styleText } from 'node:util'

/** Adds terminal colors or weight to a text. */
export type Style = (text: string) => string

export const plain: Style = (text) => text
export const bold: Style = (text) => styleText('bold', text)
export const dim: Style = (text) => styleText('dim', text)
export const green: Style = (text) => styleText('green', text)
export const red: Style = (text) => styleText('red', text)
export const yellow: Style = (text) => styleText('yellow', text)
