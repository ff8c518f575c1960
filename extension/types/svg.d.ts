// The build puts the text of the file there.
declare module '*.svg' {
  const text: string;
  export default text;
}
